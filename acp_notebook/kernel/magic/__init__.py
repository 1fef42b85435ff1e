"""`%acp` lines and `%%acp` cells: read, completed, run, answered."""
