"""What the provider documents about each Claude model, as far as requests, thinking and the prompt cache depend on it.

Sources (platform.claude.com): "Thinking", "Extended thinking", "Effort", "Mid-conversation system messages", "Prompt
caching" (minimum lengths), "Models overview" (output limits), "Errors" (prefill), "Preserved thinking" and "What's new"
of each model.
"""

import re
from dataclasses import dataclass
from typing import Final

DEFAULT_MODEL: Final = "claude-sonnet-5-5"
"""The model that answers unless another one is named; the settings need it without what sends requests."""

Version = tuple[int, int]

_NAME = re.compile(r"claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?![\d.])")
_ALL_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_ANY_THINKING = frozenset({"enabled", "adaptive", "disabled", "between_tools"})
_ALWAYS_THINKING = frozenset({"fable", "mythos"})


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a model accepts and how it behaves.

    Args:
        thinking: the accepted values of `thinking.type`.
        thinks_unasked: whether the model thinks when `thinking` is left out.
        efforts: the accepted values of `output_config.effort`; empty if there are none.
        forced_tools: whether `tool_choice` may be `any` or `tool` while the model does not think.
        prefill: whether the last message may be the assistant's.
        binds_thinking: whether a thinking block is valid only after the same system prompt, tools and messages
            ("Preserved thinking").
        keeps_thinking: whether thinking of earlier turns stays in the context after the next user message.
        max_output_tokens: the largest accepted `max_tokens`.
        least_cached_tokens: shorter prefixes are not cached; no error reports it.
        system_messages: whether a conversation may have system messages after its beginning.
    """

    thinking: frozenset[str]
    thinks_unasked: bool
    efforts: tuple[str, ...]
    forced_tools: bool
    prefill: bool
    binds_thinking: bool
    keeps_thinking: bool
    max_output_tokens: int
    least_cached_tokens: int
    system_messages: bool


UNKNOWN = ModelFacts(
    thinking=_ANY_THINKING,
    thinks_unasked=False,
    efforts=_ALL_EFFORTS,
    forced_tools=True,
    prefill=False,
    binds_thinking=True,
    keeps_thinking=True,
    max_output_tokens=128_000,
    least_cached_tokens=1024,
    system_messages=False,
)
"""The facts for a name without a version: the strictest rules that do not depend on one."""


def model_facts(model: str) -> ModelFacts:
    """The facts about a model.

    Args:
        model: the provider's name, possibly with a prefix or a date (`us.anthropic.claude-sonnet-5-5`).

    Returns:
        `UNKNOWN` if the name contains no version.
    """
    found = _NAME.search(model)
    if found is None:
        return UNKNOWN
    family, version = found[1], (int(found[2]), int(found[3] or 0))
    return ModelFacts(
        thinking=_thinking(family, version),
        thinks_unasked=version >= (5, 0),
        efforts=_efforts(family, version),
        forced_tools=version <= (5, 0),
        prefill=version < (4, 6),
        binds_thinking=version > (5, 0),
        keeps_thinking=version >= ((4, 5) if family == "opus" else (4, 6)),
        max_output_tokens=128_000 if version >= (5, 0) or (family == "opus" and version >= (4, 6)) else 64_000,
        least_cached_tokens=_least_cached(family, version),
        system_messages=version > (5, 0) or (version >= (4, 8) and family not in ("sonnet", "haiku")),
    )


def _thinking(family: str, version: Version) -> frozenset[str]:
    """Source: "Thinking", the types by model; "What's new in Claude Sonnet 5.5" for `between_tools`."""
    if version < (4, 6):
        return frozenset({"enabled", "disabled"})
    if version < (4, 7):
        return frozenset({"enabled", "adaptive", "disabled"})
    if family in _ALWAYS_THINKING or (family == "opus" and version > (5, 0)):
        return frozenset({"adaptive"})
    if family == "sonnet" and version > (5, 0):
        return frozenset({"adaptive", "between_tools"})
    return frozenset({"adaptive", "disabled"})


def _efforts(family: str, version: Version) -> tuple[str, ...]:
    """Source: "Effort", the levels: Opus 4.5 introduced it, 4.6 added `max`, Opus 4.7 added `xhigh`."""
    if version < (4, 6):
        return _ALL_EFFORTS[:3] if family == "opus" and version == (4, 5) else ()
    return (*_ALL_EFFORTS[:3], "max") if version < (4, 7) else _ALL_EFFORTS


def _least_cached(family: str, version: Version) -> int:
    """Source: "Prompt caching", cache limitations: the minimum is not monotonic across generations."""
    if version > (5, 0) or (version == (5, 0) and family != "sonnet"):
        return 512
    if version == (4, 7):
        return 2048
    if (family == "opus" and version in ((4, 5), (4, 6))) or (family == "haiku" and version == (4, 5)):
        return 4096
    return 1024
