"""Live sessions on the agent thread: updates, prompts, questions, policies."""
