"""Session state and changes -> HTML blocks, Markdown, plain text. Pure: no I/O, no clock."""
