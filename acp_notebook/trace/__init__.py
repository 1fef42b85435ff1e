"""The wire, kept for learning and for bug reports."""
