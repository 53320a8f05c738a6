"""Features of a request that the provider, or a gateway in front of it, has rejected.

Some accounts and gateways reject two optional features. A rejected feature is left out of later requests for the same
model until the process ends:

- The beta that drops thinking of a changed conversation. It is requested only after the provider has rejected such
  thinking; if the beta is unknown, the thinking itself is left out.
- The provider's own web search, which an administrator of the organisation has to enable.
"""

from dataclasses import dataclass, field
from typing import Literal

import structlog

from oracle.llm.anthropic_faults import ProviderError

log = structlog.get_logger(__name__)

Feature = Literal["beta", "web_search"]


@dataclass(slots=True)
class Refusals:
    """The rejected features of one model.

    Args:
        model: its name, for the log.
        features: the features to leave out.
        drops_changed_thinking: whether the provider has rejected thinking of a changed conversation.
    """

    model: str
    features: set[Feature] = field(default_factory=set)
    drops_changed_thinking: bool = False

    @property
    def asks_to_drop(self) -> bool:
        """Whether requests use the beta."""
        return self.drops_changed_thinking and "beta" not in self.features

    @property
    def has_web_search(self) -> bool:
        """Whether requests may offer the provider's web search."""
        return "web_search" not in self.features

    def learn(self, error: ProviderError) -> bool:
        """Record why a request was rejected; returns whether the next request will differ."""
        if error.refuses_beta and self.asks_to_drop:
            return self._do_without("beta", error)
        if error.refuses_web_search and self.has_web_search:
            return self._do_without("web_search", error)
        if error.refuses_changed_thinking and not self.drops_changed_thinking:
            self.drops_changed_thinking = True
            return "beta" not in self.features
        return False

    def _do_without(self, feature: Feature, error: ProviderError) -> bool:
        self.features.add(feature)
        log.warning(
            "provider.feature_refused",
            feature=feature,
            model=self.model,
            status=error.status,
            problem=error.message[:300],
            provider_request_id=error.request_id,
        )
        return True
