"""Which agents there are, and how each is started or reached."""
