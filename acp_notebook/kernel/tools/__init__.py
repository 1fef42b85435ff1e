"""The kernel's tools for agents: an MCP server for the sessions of this notebook.

`server` is the wire, `toolbox` holds the tools, `kernel_tools` decides who may call them.
"""
