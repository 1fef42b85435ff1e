"""The agent's hands on this kernel: an MCP server for the sessions of this notebook.

`server` is the wire, `toolbox` what can be called, `offer` who may call; the rest does the work.
"""
