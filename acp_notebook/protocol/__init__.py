"""ACP on the wire: negotiation, one dialect per version. Knows no process and no notebook.

Only this package says "v1" or "v2". Everything it reads becomes the session model's updates,
everything it writes is a method name with its params.
"""
