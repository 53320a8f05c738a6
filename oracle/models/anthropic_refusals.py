"""What a provider, or a gateway before it, has refused of our requests, and how to do without it.

Three things that a request may have are refused by some accounts and gateways, and each has a request beside it that is
taken. What was refused once is left out of the later requests for the same model, as long as the process lives:

- The beta that lets thinking of a changed conversation be dropped. It is asked for only after the provider has refused
  such thinking; where the beta is unknown too, the thinking itself is left out.
- The provider's own web search, which an organisation's administrator has to enable.
"""

from dataclasses import dataclass, field
from typing import Literal

import structlog

from oracle.models.anthropic_faults import ProviderError

log = structlog.get_logger(__name__)

Feature = Literal["beta", "web_search"]


@dataclass(slots=True)
class Refusals:
    """What is known of one model at one address.

    Args:
        model: for the log.
        features: what requests must do without.
        drops_changed_thinking: requests ask for thinking of a changed conversation to be dropped.
    """

    model: str
    features: set[Feature] = field(default_factory=set)
    drops_changed_thinking: bool = False

    @property
    def asks_to_drop(self) -> bool:
        """Whether the beta is asked for."""
        return self.drops_changed_thinking and "beta" not in self.features

    @property
    def has_web_search(self) -> bool:
        """Whether the provider's own search may be offered."""
        return "web_search" not in self.features

    def learn(self, error: ProviderError) -> bool:
        """Take in why a request was refused; whether the next one will be another because of it."""
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
