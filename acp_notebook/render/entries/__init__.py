"""Timeline entries as HTML, one module per kind. Knows no document."""
