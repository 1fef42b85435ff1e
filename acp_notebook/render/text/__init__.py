"""Turns as text: the record's Markdown and plain text, and what a console prints."""
