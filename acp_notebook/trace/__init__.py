"""Recordings of the wire, for learning and for bug reports."""
