"""The subcommands of `%acp`, by subject. Their docstrings are help texts. Know no parsing."""
