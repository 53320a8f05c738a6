"""What a Claude model wants to hear about thinking: it differs by generation, and the wrong word is a 400.

As the provider documents it (platform.claude.com, "Troubleshooting thinking" and "Prefix checks on thinking blocks"):

- Up to 4.5 thinking is asked for with a budget (`enabled`), and is off otherwise.
- From 4.6 on the model decides (`adaptive`), and `output_config.effort` is the lever; from 4.7 on a budget is refused.
- From 5 on it thinks unless told not to. How it is told differs: `disabled` (5, Haiku 5.5), `between_tools`
  (Sonnet 5.5), or not at all (Fable, Mythos, Opus 5.5), where the least effort is what can be had.
- From 5.1 on a thinking block is bound to everything before it. A control that gives a hint for one request
  (decision 24) or widens the tools (decision 23) changes what stands before, so we ask for such blocks to be dropped,
  not refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

MIN_THINKING_TOKENS = 1024
"""The provider's least budget; below it thinking is off."""

BINDING_BETA = "thinking-binding-controls-2026-08-01"
"""The beta that knows `block_binding`."""

Effort = Literal["low", "medium", "high"]

_NAME = re.compile(r"claude-(?P<family>[a-z]+)-(?P<major>\d{1,2})(?:[-.](?P<minor>\d{1,2}))?(?![\d.])")
_ALWAYS_THINKING = frozenset({"fable", "mythos"})


@dataclass(frozen=True, slots=True)
class ThinkingSettings:
    """The parts of a request that steer thinking.

    Args:
        thinking: the request's `thinking`; `None` leaves it out.
        effort: the request's `output_config.effort`; `None` leaves it out.
        betas: for the header `anthropic-beta`.
    """

    thinking: Mapping[str, Any] | None = None
    effort: Effort | None = None
    betas: tuple[str, ...] = field(default=())


def thinking_settings(model: str, *, thinking_tokens: int, max_tokens: int) -> ThinkingSettings:
    """How to ask `model` for about `thinking_tokens` of thinking.

    Args:
        model: the provider's name, also with a prefix or a date (`us.anthropic.claude-sonnet-5-5`); a name that tells
            no version gets no settings, so that the provider's default holds.
        thinking_tokens: as in the model's request; less than `MIN_THINKING_TOKENS` means off.
        max_tokens: the bound on the whole output; a budget must be smaller.
    """
    found = _NAME.search(model)
    if found is None:
        return ThinkingSettings()
    family = found["family"]
    version = (int(found["major"]), int(found["minor"] or 0))
    if version < (4, 6):
        return _budgeted(min(thinking_tokens, max_tokens - 1))
    if thinking_tokens < MIN_THINKING_TOKENS:
        return _off(family, version)
    return _adaptive(version, _effort(thinking_tokens))


def _budgeted(budget: int) -> ThinkingSettings:
    if budget < MIN_THINKING_TOKENS:
        return ThinkingSettings()
    return ThinkingSettings(thinking={"type": "enabled", "budget_tokens": budget})


def _adaptive(version: tuple[int, int], effort: Effort) -> ThinkingSettings:
    # Without `display` the newer models send thinking blocks without text.
    thinking: dict[str, Any] = {"type": "adaptive", "display": "summarized"}
    if version < (5, 1):
        return ThinkingSettings(thinking=thinking, effort=effort)
    thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
    return ThinkingSettings(thinking=thinking, effort=effort, betas=(BINDING_BETA,))


def _off(family: str, version: tuple[int, int]) -> ThinkingSettings:
    if family in _ALWAYS_THINKING or (family == "opus" and version > (5, 0)):
        return _adaptive(version, "low")
    if version < (5, 0):
        return ThinkingSettings()
    if family == "sonnet" and version > (5, 0):
        return ThinkingSettings(thinking={"type": "between_tools"})
    return ThinkingSettings(thinking={"type": "disabled"})


def _effort(thinking_tokens: int) -> Effort:
    # An adaptive model takes no number. The steps are ours: a budget that pays for a paragraph, a page, or more.
    if thinking_tokens < 4096:
        return "low"
    return "medium" if thinking_tokens < 16384 else "high"
