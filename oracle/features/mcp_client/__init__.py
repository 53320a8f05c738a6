"""Tools of MCP servers: the file of servers, the approval of their tools, and the calls."""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="mcp-client",
    summary="Offers the model the tools of MCP servers.",
    settings=(
        Setting(
            "mcp_servers",
            "A file of MCP servers whose tools are used. Needs `oracle-bt[mcp]`. Environment only.",
            kind="folder",
            decides="which code runs",
        ),
    ),
    calls=("oracle.features.mcp_client.calls:router",),
    commands={
        "mcp tools": (
            "oracle.features.mcp_client.command:tools",
            "List the tools of MCP servers; approve changed ones.",
        )
    },
    actions="oracle.features.mcp_client.opening:McpActions",
    prepares="oracle.features.mcp_client.opening:open_servers",
    when="mcp_servers",
)
