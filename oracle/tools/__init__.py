"""The tools of the agent: over a project's code, a vault of notes, its threads, and the provider's web search.

`project_tools` and `vault_tools` make them, `ToolRegistry` holds and calls them, `tools_for` picks those for a query,
and `tool` makes further ones out of functions (see `docs/tools.md`).
"""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from oracle.tools.code import project_tools
from oracle.tools.errors import ToolDefinitionError, ToolError, ToolsError, ToolSetupError
from oracle.tools.paths import Root
from oracle.tools.protocol import Tool, ToolGroup, ToolResult
from oracle.tools.registry import ToolRegistry
from oracle.tools.schema import arguments_line, tool
from oracle.tools.selection import all_reading, tools_for
from oracle.tools.threads import ThreadTools
from oracle.tools.vault import VaultTools
from oracle.tools.vault_index import VaultIndex
from oracle.tools.web import WEB_SEARCH, web_tools
from oracle.tools.workers import Workers, check_cancelled

__all__ = [
    "WEB_SEARCH",
    "Root",
    "Tool",
    "ToolDefinitionError",
    "ToolError",
    "ToolGroup",
    "ToolRegistry",
    "ToolResult",
    "ToolSetupError",
    "ToolsError",
    "Workers",
    "all_reading",
    "arguments_line",
    "check_cancelled",
    "project_tools",
    "tool",
    "tools_for",
    "vault_tools",
    "web_tools",
]


def vault_tools(root: Path, *, now: Callable[[], datetime], cache: Path | None = None) -> tuple[Tool, ...]:
    """The tools over a vault and its threads.

    Args:
        root: its folder; one that does not exist is an empty vault, and is made by the first write.
        now: the time for entries of threads.
        cache: a file to keep the search index in, texts included; `None` keeps it in memory.

    Raises:
        ToolSetupError: the folder is a file or cannot be read, or the index cannot be made.
    """
    folder = Root(root, label="the vault")
    if folder.path.exists():
        folder.require(setting="--vault or ORACLE_VAULT_DIR")
    index = VaultIndex(folder, cache=cache)
    vault = VaultTools(folder, index)
    threads = ThreadTools(folder, index, now=now)
    workers = Workers()
    return (
        tool(
            group="vault",
            when_to_use="First for decisions, plans, meetings, conventions and anything else that was written down.",
            workers=workers,
        )(vault.vault_search),
        tool(
            group="vault",
            when_to_use="To see a whole note when the lines of a search hit do not answer.",
            workers=workers,
        )(vault.vault_read),
        tool(
            group="vault",
            when_to_use="To see which notes there are, all or in one folder.",
            workers=workers,
        )(vault.vault_list),
        tool(
            group="thread",
            when_to_use="To see a whole thread, when its name is known or a search hit does not answer.",
            workers=workers,
        )(threads.thread_read),
        tool(
            group="thread",
            when_to_use="For what was discussed or logged over time; with vault_search, the first place for past talk.",
            workers=workers,
        )(threads.thread_seek),
        tool(
            group="vault",
            when_to_use="When the user asks for a note to be written or replaced; read it first if it exists.",
            writes=True,
            workers=workers,
        )(vault.vault_write),
        tool(
            group="thread",
            when_to_use="When the user asks to log, remember or add something to a thread.",
            writes=True,
            workers=workers,
        )(threads.thread_push),
    )
