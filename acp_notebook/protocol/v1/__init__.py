"""ACP v1: reader, dialect and its row in the table of versions. Does not know v2."""
