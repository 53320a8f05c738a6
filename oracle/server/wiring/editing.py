"""Joins what an editor of tree files needs."""

from contextlib import suppress

from bt_runtime.analysis.files import codes_of
from oracle.authoring.editing.desk import Desk
from oracle.server.settings.fields import Settings
from oracle.server.settings.reading import SettingsError
from oracle.server.wiring.agent import build_tools, tree_library
from oracle.tools import ToolRegistry, ToolSetupError


def editing_desk(settings: Settings, tools: ToolRegistry | None = None) -> Desk:
    """The desk over the operator's trees and tools.

    Args:
        settings: the operator's.
        tools: what `action` can call; `None`: those of the settings, if they can be used.

    Raises:
        SettingsError: the operator's folder of trees is none.
    """
    if tools is None:
        with suppress(ToolSetupError, SettingsError):  # they are reported where the tools are made
            tools = build_tools(settings, has_web_search=False)
    offered = [tool.name for tool in tools.tools if not tool.is_server_side] if tools is not None else []
    definitions = tools.definitions(offered) if tools is not None else ()
    library = tree_library(settings, tools)
    codes = {name: code.summary for name, code in codes_of(library.registry).items() if code.severity == "warning"}
    return Desk(library, {tool.name: tool for tool in definitions}, codes)
