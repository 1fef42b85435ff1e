"""What stands in a cell: a turn, a session, questions, a terminal; at consoles their text."""
