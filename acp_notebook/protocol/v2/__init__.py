"""ACP v2: wire types, reader, dialect. Knows no v1."""
