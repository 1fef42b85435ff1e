"""Code of an agent on the main thread: run, interrupted, its output captured and shown."""
