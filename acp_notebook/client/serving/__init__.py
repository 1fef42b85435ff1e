"""The methods that the client serves to an agent: files, terminals, and their table."""
