"""Processes of this client, each in a process session of its own."""
