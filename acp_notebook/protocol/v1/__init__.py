"""ACP v1: wire types, reader, dialect. Does not know v2."""
