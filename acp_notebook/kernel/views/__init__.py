"""The views in a cell: a turn, a session, questions, a terminal; in consoles their text."""
