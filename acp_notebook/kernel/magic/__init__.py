"""The magics `%acp` and `%%acp`: parsing, completion, execution and display."""
