"""Session state and changes as HTML blocks, Markdown and plain text. Pure: no I/O, no clock."""
