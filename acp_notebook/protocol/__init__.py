"""ACP on the wire: negotiation, and one dialect per version. Knows no process and no notebook.

Only this package distinguishes the versions. It reads messages into the session model's updates,
and writes methods with their params.
"""
