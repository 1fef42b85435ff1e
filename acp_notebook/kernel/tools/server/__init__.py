"""The tools' wire: the MCP server, its list-changed notifications, the bridge for stdio agents."""
