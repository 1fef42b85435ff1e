"""An agent's code on the main thread: running, interrupting, capturing and showing output."""
