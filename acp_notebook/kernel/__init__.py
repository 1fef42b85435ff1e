"""The IPython side: magics, waiting, and the views of a notebook. The composition root."""
