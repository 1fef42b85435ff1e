"""Child processes of this client, each in its own process session. Knows no ACP."""
