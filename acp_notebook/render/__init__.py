"""Session state and changes as HTML, Markdown and plain text. Pure: no I/O, no clock."""
