"""Text of an agent -> structure and safe HTML: Markdown, diffs, terminals, formulas, addresses."""
