"""The live views in the page, on top of `render`. Knows no client and no wire."""
