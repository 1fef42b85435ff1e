"""Sessions as they live on the agent thread: updates, prompts, questions, policies."""
