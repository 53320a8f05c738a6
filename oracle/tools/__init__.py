"""The tools of the agent: over a project's code, a vault of notes, its threads, and the provider's web search.

`project_tools` and `vault_tools` make them, `ToolRegistry` holds and calls them, `tools_for` picks those for a query,
and `tool` makes further ones out of functions (see `docs/tools.md`).
"""

from oracle.core.errors import ToolDefinitionError
from oracle.tools.code import project_tools
from oracle.tools.code_files import top_folders
from oracle.tools.errors import ToolError, ToolSetupError
from oracle.tools.excerpts import Around, Excerpt
from oracle.tools.keys import CallKey, call_key
from oracle.tools.paths import Root
from oracle.tools.protocol import BUILT_IN_TOOLS, Tool, ToolGroup, ToolResult
from oracle.tools.query_types import placing_words
from oracle.tools.registry import ToolRegistry
from oracle.tools.schema import arguments_line, tool
from oracle.tools.selection import all_reading, tools_for
from oracle.tools.vault_toolset import vault_tools
from oracle.tools.web import web_tools
from oracle.tools.workers import Workers, check_cancelled

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
