"""Turns as text: the record's Markdown and plain text, and the output of a console."""
