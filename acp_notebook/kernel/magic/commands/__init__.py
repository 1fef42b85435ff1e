"""What the subcommands of `%acp` do, by subject."""
