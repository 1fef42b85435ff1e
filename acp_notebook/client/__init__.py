"""ACP's client role: processes, agents, sessions, turns, permissions. Knows no IPython.

Importing it starts nothing. What the notebook adds (waiting with live buttons, showing a turn) is
handed in as a `Host`.
"""
