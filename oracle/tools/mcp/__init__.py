"""Tools of MCP servers: which servers there are, what they offer, what was approved of it, and their calls."""
