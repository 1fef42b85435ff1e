"""Timeline entries as HTML, one module per kind. Know no document."""
