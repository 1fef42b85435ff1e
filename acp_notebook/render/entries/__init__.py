"""Timeline entries -> HTML, one module a kind."""
