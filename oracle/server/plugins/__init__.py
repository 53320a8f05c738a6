"""What other packages add: tools, node kinds, decision trees, folders of trees and prompts, and classifiers.

A package declares entry points in the groups of `GROUPS`, or the operator names its modules in `ORACLE_PLUGINS`; see
`docs/extending.md`. What cannot be loaded, and a name that two claim, end the start with a message.
"""

from oracle.server.plugins.contributions import GROUPS, Contribution, PluginError
from oracle.server.plugins.loading import Plugins, load_plugins

__all__ = ["GROUPS", "Contribution", "PluginError", "Plugins", "load_plugins"]
