"""Turns as text: the record's Markdown and plain text, and a console's output."""
