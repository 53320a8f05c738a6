"""What the provider documents about each Claude model, and how a request asks it to think.

Sources (platform.claude.com): "Thinking", "Extended thinking", "Effort", "Mid-conversation system messages", "Models
overview" (output limits), "Preserved thinking" and "What's new" of each model.

How to ask for thinking differs by generation, and the wrong parameter is a 400. As the provider documents it
(platform.claude.com, "Troubleshooting thinking" and "Prefix checks on thinking blocks"):

- Models before 4.6 think only within a token budget (`enabled`).
- From 4.6 on the model decides how much to think (`adaptive`), and `output_config.effort` sets the level.
- From 5 on a model thinks by default. It is turned off with `disabled` or `between_tools`; a model that accepts neither
  gets the lowest effort.
- From 5.1 on a thinking block is bound to everything before it. If that has changed (tools that were withheld are
  offered when the model says that it lacks a capability), the provider can drop the block instead of refusing the
  request. This takes a beta that some gateways do not know, so it is requested only when needed.
- A change of these parameters invalidates the cached messages, so they stay the same within a query.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

from bt_runtime.text.data import dataclass
from oracle.llm.protocol import MIN_THINKING_TOKENS

Version = tuple[int, int]

_NAME = re.compile(r"claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?![\d.])")
_ANY_THINKING = frozenset({"enabled", "adaptive", "disabled", "between_tools"})
_ALWAYS_THINKING = frozenset({"fable", "mythos"})


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a model accepts and how it behaves.

    Args:
        thinking: the accepted values of `thinking.type`.
        thinks_unasked: whether the model thinks when `thinking` is left out.
        binds_thinking: whether a thinking block is valid only after the same system prompt, tools and messages
            ("Preserved thinking").
        max_output_tokens: the largest accepted `max_tokens`.
        system_messages: whether a conversation may have system messages after its beginning.
    """

    thinking: frozenset[str]
    thinks_unasked: bool
    binds_thinking: bool
    max_output_tokens: int
    system_messages: bool


UNKNOWN = ModelFacts(
    thinking=_ANY_THINKING,
    thinks_unasked=False,
    binds_thinking=True,
    max_output_tokens=128_000,
    system_messages=False,
)
"""The facts for a name without a version: the strictest rules that do not depend on one."""


def family_and_version(model: str) -> tuple[str, Version] | None:
    """`("opus", (4, 7))`; `None` if the name contains no version."""
    found = _NAME.search(model)
    return None if found is None else (found[1], (int(found[2]), int(found[3] or 0)))


def model_facts(model: str) -> ModelFacts:
    """The facts about a model.

    Args:
        model: the provider's name, possibly with a prefix or a date (`us.anthropic.claude-sonnet-5-5`).

    Returns:
        `UNKNOWN` if the name contains no version.
    """
    named = family_and_version(model)
    if named is None:
        return UNKNOWN
    family, version = named
    return ModelFacts(
        thinking=_thinking(family, version),
        thinks_unasked=version >= (5, 0),
        binds_thinking=version > (5, 0),
        max_output_tokens=128_000 if version >= (5, 0) or (family == "opus" and version >= (4, 6)) else 64_000,
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


HIGH_EFFORT_TOKENS = 8192
"""From this budget on an adaptive model is asked for high effort."""

BINDING_BETA = "thinking-binding-controls-2026-08-01"
"""The beta that adds `block_binding`."""

Effort = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class ThinkingSettings:
    """The parts of a request that control thinking.

    Args:
        thinking: the request's `thinking`; `None` leaves it out.
        effort: the request's `output_config.effort`; `None` leaves it out.
        betas: values of the `anthropic-beta` header.
    """

    thinking: Mapping[str, Any] | None = None
    effort: Effort | None = None
    betas: tuple[str, ...] = ()

    @property
    def is_off(self) -> bool:
        """Whether the request turns thinking off or does not mention it."""
        return self.thinking is None or self.thinking.get("type") == "disabled"


def thinking_settings(
    model: str, *, thinking_tokens: int, max_tokens: int, drops_changed: bool = False
) -> ThinkingSettings:
    """The settings that ask `model` for about `thinking_tokens` of thinking.

    Args:
        model: the provider's name; an unknown one gets no settings, so the provider's default applies.
        thinking_tokens: as in `ModelRequest`; less than `MIN_THINKING_TOKENS` means off.
        max_tokens: the limit on the whole output; a budget must be smaller.
        drops_changed: ask the provider to drop thinking blocks whose preceding content has changed.
    """
    facts = model_facts(model)
    if facts is UNKNOWN:
        return ThinkingSettings()
    if "adaptive" not in facts.thinking:
        return _budgeted(min(thinking_tokens, max_tokens - 1))
    drops = drops_changed and facts.binds_thinking
    if thinking_tokens >= MIN_THINKING_TOKENS:
        return _adaptive(_effort(thinking_tokens), drops=drops)
    if not facts.thinks_unasked:
        return ThinkingSettings()
    for kind in ("disabled", "between_tools"):
        if kind in facts.thinking:
            return ThinkingSettings(thinking={"type": kind})
    return _adaptive("low", drops=drops)


def _budgeted(budget: int) -> ThinkingSettings:
    if budget < MIN_THINKING_TOKENS:
        return ThinkingSettings()
    return ThinkingSettings(thinking={"type": "enabled", "budget_tokens": budget})


def _adaptive(effort: Effort, *, drops: bool) -> ThinkingSettings:
    # Without `display` the newer models send thinking blocks without text.
    thinking: dict[str, Any] = {"type": "adaptive", "display": "summarized"}
    if not drops:
        return ThinkingSettings(thinking=thinking, effort=effort)
    thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
    return ThinkingSettings(thinking=thinking, effort=effort, betas=(BINDING_BETA,))


def _effort(thinking_tokens: int) -> Effort:
    """The effort for an adaptive model, which takes no token budget.

    The provider suggests `medium` for agents where cost and speed matter, `high` for hard questions, and `low` for
    simple tasks ("Effort"); it is also the default of Opus 5.5 and Haiku 5.5.
    """
    return "medium" if thinking_tokens < HIGH_EFFORT_TOKENS else "high"
