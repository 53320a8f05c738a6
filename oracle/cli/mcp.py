"""`oracle mcp`: what has to do with the Model Context Protocol."""

from collections.abc import Mapping
from typing import Final

import click

from oracle.cli.groups import LazyGroup

_MCP: Final[Mapping[str, tuple[str, str]]] = {
    "tools": ("oracle.cli.mcp_tools:tools", "List the tools of MCP servers; approve changed ones."),
}


@click.group("mcp", cls=LazyGroup, commands_at=_MCP, no_args_is_help=True)
def mcp() -> None:
    """Look at the tools of MCP servers."""
