"""Parts of a request that the provider, or a gateway in front of it, has rejected.

Some accounts, gateways and other servers of the same format reject optional parts. A rejected part is left out of later
requests for the same model until the process ends:

- The beta that drops thinking of a changed conversation. It is requested only after the provider has rejected such
  thinking; if the beta is unknown, the thinking itself is left out.
- The provider's own web search, which an administrator of the organisation has to enable.
- The marks of the provider's cache, and the settings of thinking, which other servers may not know.
- System messages within a conversation, which other servers may not know (`oracle.llm.marked_notes`).
"""

from dataclasses import dataclass, field

import structlog

from oracle.llm.anthropic_faults import OptionalPart, ProviderError
from oracle.llm.claude import model_facts

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Refusals:
    """The rejected parts of one model's requests.

    Args:
        model: its name, for the log.
        parts: the parts to leave out.
        drops_changed_thinking: whether the provider has rejected thinking of a changed conversation.
    """

    model: str
    parts: set[OptionalPart] = field(default_factory=set)
    drops_changed_thinking: bool = False

    @property
    def asks_to_drop(self) -> bool:
        """Whether requests use the beta."""
        return self.drops_changed_thinking and "beta" not in self.parts

    @property
    def has_system_messages(self) -> bool:
        """Whether requests may have system messages within the conversation."""
        return "system_messages" not in self.parts and model_facts(self.model).system_messages

    def learn(self, error: ProviderError) -> bool:
        """Record why a request was rejected; returns whether the next request will differ."""
        for part in error.refused_parts:
            is_used = {"beta": self.asks_to_drop, "system_messages": self.has_system_messages}.get(part, True)
            if part not in self.parts and is_used:
                self.parts.add(part)
                log.warning(
                    "provider.feature_refused",
                    feature=part,
                    model=self.model,
                    status=error.status,
                    problem=error.said[:300],
                    provider_request_id=error.request_id,
                )
                return True
        if error.refuses_changed_thinking and not self.drops_changed_thinking:
            self.drops_changed_thinking = True
            return "beta" not in self.parts
        return False
