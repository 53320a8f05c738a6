"""The registry with the kind and the key of the feature."""

from oracle.agent.nodes import REGISTRY
from oracle.features.evidence.kinds import KINDS
from oracle.server.plugins.contributions import kinds_of

_made = kinds_of(KINDS)
KNOWN = REGISTRY.extended(_made.kinds, _made.keys)
