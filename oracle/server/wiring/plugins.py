"""What other packages add to this process, loaded once."""

from functools import lru_cache

import structlog

import trees
from bt_runtime import Registry
from oracle.agent.nodes import REGISTRY
from oracle.decision import decision_tree, decision_trees
from oracle.server.plugins import PluginError, Plugins, load_plugins
from oracle.server.settings.fields import Settings
from oracle.tools import BUILT_IN_TOOLS
from prompts import load_segments

_LISTED = 20

log = structlog.get_logger(__name__)


def plugins_of(settings: Settings) -> Plugins:
    """The plugins of the installed packages, and of the modules that the operator names.

    Raises:
        PluginError: some cannot be loaded, or claim a name that is taken.
        PromptError: a prompt file of theirs is invalid.
    """
    return _loaded(settings.plugins, settings.features)


def registry_of(plugins: Plugins) -> Registry:
    """The node kinds and blackboard keys of this process.

    Raises:
        PluginError: the name of a kind or key is taken.
    """
    return plugins.extended(REGISTRY)


@lru_cache(maxsize=8)
def _loaded(modules: tuple[str, ...], chosen: tuple[str, ...]) -> Plugins:
    plugins = load_plugins(modules, chosen=chosen)
    if not plugins.loaded:
        return plugins
    registry_of(plugins)
    plugins.check_free("oracle.tools", BUILT_IN_TOOLS)
    plugins.check_free("oracle.trees", {path.stem for path in trees.FOLDER.glob("*.yaml")})
    plugins.check_free("oracle.prompts", {segment.id for segment in load_segments().segments})
    load_segments(further=plugins.prompts)
    for name, factory in plugins.decision_trees.items():
        known = decision_trees().get(name)
        if known is None:
            decision_tree(name)(factory)
        elif known is not factory:
            raise PluginError([f"oracle.decision_trees: {name!r} is registered already; choose another name"])
    found = [f"{each.group}: {', '.join(each.names[:_LISTED])} ({each.package})" for each in plugins.loaded]
    log.info("plugins.loaded", plugins=found)
    return plugins
