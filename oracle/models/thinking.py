"""How a Claude model is asked to think: it differs by generation, and the wrong parameter is a 400.

As the provider documents it (platform.claude.com, "Troubleshooting thinking" and "Prefix checks on thinking blocks"):

- Up to 4.5 thinking is asked for with a budget (`enabled`), and is off otherwise.
- From 4.6 on the model decides (`adaptive`), and `output_config.effort` is the lever; from 4.7 on a budget is refused.
- From 5 on it thinks unless told not to. How it is told differs: `disabled` (5, Haiku 5.5), `between_tools`
  (Sonnet 5.5), or not at all (Fable, Mythos, Opus 5.5), where the least effort is what can be had.
- From 5.1 on a thinking block is bound to everything before it. Where that has changed (decision 35 adds tools), such
  blocks can be dropped in place of a refusal; that takes a beta, which not every gateway knows, so it is asked for only
  where it is needed.
- A change of these parameters voids what the provider has cached of the messages, so they stay the same for a query.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

MIN_THINKING_TOKENS = 1024
"""The provider's least budget; below it thinking is off."""

HIGH_EFFORT_TOKENS = 8192
"""From here on a model that takes no budget is asked for high effort."""

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

    @property
    def is_off(self) -> bool:
        """The request says that the model does not think, or does not say that it does."""
        return self.thinking is None or self.thinking.get("type") == "disabled"


def thinking_settings(
    model: str, *, thinking_tokens: int, max_tokens: int, drops_changed: bool = False
) -> ThinkingSettings:
    """How to ask `model` for about `thinking_tokens` of thinking.

    Args:
        model: the provider's name, also with a prefix or a date (`us.anthropic.claude-sonnet-5-5`); a name that tells
            no version gets no settings, so that the provider's default holds.
        thinking_tokens: as in the model's request; less than `MIN_THINKING_TOKENS` means off.
        max_tokens: the bound on the whole output; a budget must be smaller.
        drops_changed: ask for thinking to be dropped where what stands before it has changed.
    """
    found = _NAME.search(model)
    if found is None:
        return ThinkingSettings()
    family = found["family"]
    version = (int(found["major"]), int(found["minor"] or 0))
    if version < (4, 6):
        return _budgeted(min(thinking_tokens, max_tokens - 1))
    drops = drops_changed and version >= (5, 1)
    if thinking_tokens < MIN_THINKING_TOKENS:
        return _off(family, version, drops=drops)
    return _adaptive(_effort(thinking_tokens), drops=drops)


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


def _off(family: str, version: tuple[int, int], *, drops: bool) -> ThinkingSettings:
    if family in _ALWAYS_THINKING or (family == "opus" and version > (5, 0)):
        return _adaptive("low", drops=drops)
    if version < (5, 0):
        return ThinkingSettings()
    if family == "sonnet" and version > (5, 0):
        return ThinkingSettings(thinking={"type": "between_tools"})
    return ThinkingSettings(thinking={"type": "disabled"})


def _effort(thinking_tokens: int) -> Effort:
    """The lever of an adaptive model, which takes no number.

    The provider suggests `medium` for agents where cost and speed count, `high` for hard questions, and `low` for
    simple jobs ("Effort"); Opus 5.5 and Haiku 5.5 have `medium` as their own default. An agent that may think at all
    therefore gets `medium`, and `high` from a budget that would pay for pages.
    """
    return "medium" if thinking_tokens < HIGH_EFFORT_TOKENS else "high"
