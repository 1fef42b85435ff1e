"""What the client serves to an agent: a table of methods, and those for files and terminals."""
