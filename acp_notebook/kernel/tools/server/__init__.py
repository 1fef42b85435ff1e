"""The tools on the wire: the MCP server, its announcements, the bridge for stdio agents."""
