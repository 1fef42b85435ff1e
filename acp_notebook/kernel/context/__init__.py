"""What a prompt takes from the notebook: variables, files, cells, errors. Only what is named.

Knows no agent: it makes content blocks, the client fits them to what an agent can take.
"""
