"""The agents that can be named, and how each is started or reached. Starts nothing."""
