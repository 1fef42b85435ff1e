"""ACP v1: wire types, reader, dialect. Knows no v2."""
