"""The functions of the subcommands of `%acp`, by subject."""
