"""The live view of a turn over `render`. Knows session and render, not the client or the wire."""
