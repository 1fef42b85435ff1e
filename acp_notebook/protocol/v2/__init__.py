"""ACP v2: wire types, reader, dialect. Does not know v1."""
