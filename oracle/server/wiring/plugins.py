"""What other packages add to this process, loaded once."""

from functools import lru_cache

import structlog

import trees
from bt_runtime import Registry
from oracle.agent.nodes import REGISTRY, registry_for
from oracle.decision import decision_tree, decision_trees
from oracle.domains.domain import Domain, shipped_domain
from oracle.server.plugins import PluginError, Plugins, load_plugins
from oracle.server.settings.fields import Settings
from oracle.server.wiring.domains import domain_of
from oracle.tools import BUILT_IN_TOOLS

_LISTED = 20

log = structlog.get_logger(__name__)


def plugins_of(settings: Settings) -> Plugins:
    """The plugins of the installed packages, and of the modules that the operator names.

    Raises:
        PluginError: some cannot be loaded, or claim a name that is taken.
        PromptError: a prompt file of theirs is invalid.
        DomainError: the domain cannot be used.
    """
    domain = domain_of(settings)
    return _loaded((*settings.plugins, *domain.modules), settings.features, domain)


def registry_of(plugins: Plugins, domain: Domain) -> Registry:
    """The node kinds and blackboard keys of this process, for the trees of the domain.

    Raises:
        PluginError: the name of a kind or key is taken.
    """
    own = REGISTRY if domain is shipped_domain() else registry_for(domain.types, domain)
    return plugins.extended(own)


@lru_cache(maxsize=8)
def _loaded(modules: tuple[str, ...], chosen: tuple[str, ...], domain: Domain) -> Plugins:
    plugins = load_plugins(modules, chosen=chosen)
    if not plugins.loaded:
        return plugins
    registry_of(plugins, domain)
    plugins.check_free("oracle.tools", BUILT_IN_TOOLS)
    plugins.check_free("oracle.trees", {path.stem for path in trees.FOLDER.glob("*.yaml")})
    plugins.check_free("oracle.prompts", {segment.id for segment in domain.shared_segments})
    domain.segments(further=plugins.prompts)
    for name, factory in plugins.decision_trees.items():
        known = decision_trees().get(name)
        if known is None:
            decision_tree(name)(factory)
        elif known is not factory:
            raise PluginError([f"oracle.decision_trees: {name!r} is registered already; choose another name"])
    found = [f"{each.group}: {', '.join(each.names[:_LISTED])} ({each.package})" for each in plugins.loaded]
    log.info("plugins.loaded", plugins=found)
    return plugins
