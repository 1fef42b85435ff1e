"""ACP on the wire: negotiation, one dialect per version. Knows no process and no notebook.

Only this package distinguishes v1 and v2. It reads messages into the session model's updates, and
writes method names with their params.
"""
