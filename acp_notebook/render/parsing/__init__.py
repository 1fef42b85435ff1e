"""An agent's text as structure and safe HTML: Markdown, diffs, terminals, formulas, urls."""
