"""The session model: updates, state, reducer, changes. Pure: no I/O, no clock, no version."""
