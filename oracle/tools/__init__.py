"""The tools of the agent: over a project's code, a vault of notes, its threads, and the provider's web search.

`project_tools` and `vault_tools` make them, `ToolRegistry` holds and calls them, `tools_for` picks those for a query,
and `tool` makes further ones out of functions (see `docs/extending.md`). Each name is loaded when it is first used.
"""

from typing import TYPE_CHECKING

from oracle.core.loading import lazy_door

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from oracle.core.errors import ToolDefinitionError
    from oracle.tools.code import project_tools
    from oracle.tools.code_files import top_folders
    from oracle.tools.errors import ToolError, ToolSetupError
    from oracle.tools.keys import CallKey, call_key, check_cancelled
    from oracle.tools.paths import Root
    from oracle.tools.protocol import BUILT_IN_TOOLS, Around, Excerpt, Tool, ToolGroup, ToolResult, arguments_line
    from oracle.tools.registry import ToolRegistry
    from oracle.tools.schema import tool
    from oracle.tools.selection import all_reading, placing_words, tools_for
    from oracle.tools.vault_toolset import vault_tools
    from oracle.tools.web import web_tools
    from oracle.tools.workers import Workers

__all__ = [
    "BUILT_IN_TOOLS",
    "Around",
    "CallKey",
    "Excerpt",
    "Root",
    "Tool",
    "ToolDefinitionError",
    "ToolError",
    "ToolGroup",
    "ToolRegistry",
    "ToolResult",
    "ToolSetupError",
    "Workers",
    "all_reading",
    "arguments_line",
    "call_key",
    "check_cancelled",
    "placing_words",
    "project_tools",
    "tool",
    "tools_for",
    "top_folders",
    "vault_tools",
    "web_tools",
]

_HOMES = {
    "oracle.core.errors": "ToolDefinitionError",
    "oracle.tools.code": "project_tools",
    "oracle.tools.code_files": "top_folders",
    "oracle.tools.errors": "ToolError ToolSetupError",
    "oracle.tools.keys": "CallKey call_key check_cancelled",
    "oracle.tools.paths": "Root",
    "oracle.tools.protocol": "BUILT_IN_TOOLS Around Excerpt Tool ToolGroup ToolResult arguments_line",
    "oracle.tools.selection": "all_reading placing_words tools_for",
    "oracle.tools.registry": "ToolRegistry",
    "oracle.tools.schema": "tool",
    "oracle.tools.vault_toolset": "vault_tools",
    "oracle.tools.web": "web_tools",
    "oracle.tools.workers": "Workers",
}

__getattr__ = lazy_door(__name__, _HOMES)
