"""Parts of a request that Claude's provider, or a gateway in front of it, has rejected.

Some accounts, gateways and other servers of the same format reject optional parts. A rejected part is left out of later
requests for the same model until the process ends:

- The beta that drops thinking of a changed conversation. It is requested only after the provider has rejected such
  thinking; if the beta is unknown, the thinking itself is left out.
- The provider's own web search, which an administrator of the organisation has to enable.
- The marks of the provider's cache, and the settings of thinking, which other servers may not know.
- Tools that are withdrawn and offered in mid-conversation, a beta (`oracle.features.claude.tool_changes`).
- The question why the cache was missed, which other servers may not know.
- The schemas of answers; then answers are only checked. One schema that is rejected is left out of its own turn alone.
- System messages within a conversation, which other servers may not know (`oracle.llm.marked_notes`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, Literal

import structlog

from bt_runtime.text.data import dataclass
from oracle.features.claude.facts import model_facts
from oracle.llm.faults import ProviderError

OptionalPart = Literal[
    "tool_changes", "beta", "web_search", "cache_control", "diagnostics", "output_format", "thinking", "system_messages"
]

_CHANGED_THINKING = re.compile(r"bound to a different conversation|prefix_mismatch", re.IGNORECASE)
_REFUSED_THINKING = re.compile(
    r"thinking.{0,80}(?:signature|cannot be modified|\bbound\b|prefix)"
    r"|(?:signature|\bbound to a different conversation|prefix_mismatch)",
    re.IGNORECASE | re.DOTALL,
)
_NOT_KNOWN = (
    r"(?:extra|unknown|unrecogni[sz]ed|unexpected|unsupported|disabled|does not match"
    r"|(?:not|n't) (?:enable|available|support|allow|permit|known|recogni))"
)


def _not_known(part: str) -> re.Pattern[str]:
    return re.compile(rf"{part}.{{0,100}}{_NOT_KNOWN}|{_NOT_KNOWN}.{{0,60}}{part}", re.IGNORECASE | re.DOTALL)


_BETA = r"anthropic-beta|\bbeta (?:flag|header|feature)"
_REFUSALS: Final[Mapping[OptionalPart, re.Pattern[str]]] = {
    "tool_changes": re.compile(rf"tool_(?:addition|removal)|tool-changes|defer_loading|{_BETA}", re.IGNORECASE),
    "beta": re.compile(rf"{_BETA}|block_binding: extra inputs", re.IGNORECASE),
    "web_search": _not_known("web[ _]search"),
    "cache_control": _not_known("cache_control"),
    "diagnostics": _not_known(r"\bdiagnostics"),
    "output_format": re.compile(r"output_config\.format|output_format|json_schema|structured output", re.IGNORECASE),
    "thinking": _not_known(r"\b(?:thinking|output_config|effort)\b"),
    "system_messages": re.compile(
        r"\brole\b.{0,60}\bsystem\b|\bsystem\b.{0,60}\brole\b|messages[.\[]\d+\]?\.role", re.IGNORECASE | re.DOTALL
    ),
}
"""The optional parts of a request, each with the words by which a provider refuses it."""

_REFUSED = (400, 403, 422)

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

    @property
    def has_tool_changes(self) -> bool:
        """Whether tools may be withdrawn and offered in mid-conversation."""
        return "tool_changes" not in self.parts and self.has_system_messages

    def learn(self, error: ProviderError, *, changes_tools: bool = False) -> bool:
        """Record why a request was rejected; returns whether the next request will differ.

        Args:
            error: what the provider has said.
            changes_tools: the request had changes of tools in its messages.
        """
        for part in _refused_parts(error):
            is_used = {
                "beta": self.asks_to_drop,
                "system_messages": self.has_system_messages,
                "tool_changes": changes_tools,
            }.get(part, True)
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
        is_changed = error.status == 400 and _CHANGED_THINKING.search(error.message) is not None
        if is_changed and not self.drops_changed_thinking:
            self.drops_changed_thinking = True
            return "beta" not in self.parts
        return False


def refuses_thinking(error: ProviderError) -> bool:
    """Whether the provider rejects a thinking block of an earlier turn."""
    return error.status == 400 and _REFUSED_THINKING.search(error.message) is not None


def refuses_schema(error: ProviderError) -> bool:
    """Whether the provider rejects the schema of this answer (recursive ones, large ones), and not all schemas."""
    return error.status == 400 and "output_config.format.schema" in error.message


def _refused_parts(error: ProviderError) -> Sequence[OptionalPart]:
    """The part of the request that the provider does not know or allow."""
    return [part for part, words in _REFUSALS.items() if error.status in _REFUSED and words.search(error.message)]
