"""ACP's client role: agents, sessions, turns, permissions. Knows no IPython; see `Host`."""
