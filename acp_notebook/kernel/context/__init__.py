"""The context of a prompt: the variables, files, cells and errors that it names, and no others.

Makes content blocks. Knows no agent: the client fits the blocks to an agent's capabilities.
"""
