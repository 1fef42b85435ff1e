"""ACP's client role: processes, agents, sessions, turns, permissions. Knows no IPython.

Importing it starts nothing. A `Host` adds what a notebook can do: waiting with live buttons and
showing a turn.
"""
