"""A request to the stand-in provider, as its rules look at it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oracle.testing.provider_blocks import Body
from oracle.testing.provider_models import ModelFacts


@dataclass(frozen=True, slots=True)
class Request:
    """A request as the rules look at it.

    Args:
        body: the JSON object.
        betas: what the header `anthropic-beta` names.
        known_betas: what the provider, or the gateway before it, knows of them.
        has_web_search: whether the organisation has switched the provider's web search on.
        facts: of the model that is asked for.
    """

    body: Body
    betas: frozenset[str]
    known_betas: frozenset[str]
    has_web_search: bool
    facts: ModelFacts

    @property
    def thinking_type(self) -> str:
        """How it is to think; what the model does unasked if the request says nothing."""
        thinking = self.body.get("thinking")
        if isinstance(thinking, Mapping):
            return str(thinking.get("type"))
        return "adaptive" if self.facts.thinks_unasked else "disabled"

    @property
    def messages(self) -> Sequence[Body]:
        """The messages; none if there are none that can be looked at."""
        found = self.body.get("messages")
        return found if isinstance(found, list) and all(isinstance(each, Mapping) for each in found) else ()

    @property
    def tools(self) -> Sequence[Body]:
        """The tools; none if there are none."""
        found = self.body.get("tools")
        return found if isinstance(found, list) else ()
