"""The Model Context Protocol, of 2026-07-28 and 2025-11-25: Oracle as a server."""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="mcp-server",
    summary="Serves clients of the Model Context Protocol at /mcp.",
    settings=(
        Setting(
            "mcp_tools",
            "Read-only tools that MCP clients may call besides `ask`, such as `search_code,read_note`.",
            kind="names",
            default=(),
        ),
    ),
    commands={
        "mcp": (
            "oracle.features.mcp_server.command:mcp",
            "Serve the Model Context Protocol; list the tools of MCP servers.",
        )
    },
    adapters={"/mcp": "oracle.features.mcp_server.routes"},
)
