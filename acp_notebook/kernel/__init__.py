"""The IPython side: magics, the wait, the place of a turn in the notebook. Composition root."""
