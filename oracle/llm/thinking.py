"""How a request asks a Claude model to think. It differs by generation, and the wrong parameter is a 400.

As the provider documents it (platform.claude.com, "Troubleshooting thinking" and "Prefix checks on thinking blocks"):

- Models before 4.6 think only within a token budget (`enabled`).
- From 4.6 on the model decides how much to think (`adaptive`), and `output_config.effort` sets the level.
- From 5 on a model thinks by default. It is turned off with `disabled` or `between_tools`; a model that accepts neither
  gets the lowest effort.
- From 5.1 on a thinking block is bound to everything before it. If that has changed (tools that were withheld are
  offered when the model says that it lacks a capability), the provider can drop the block instead of refusing the
  request. This takes a beta that some gateways do not know, so it is requested only when needed.
- A change of these parameters invalidates the cached messages, so they stay the same within a query.

`oracle.llm.claude` lists what each model accepts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from oracle.llm.claude import UNKNOWN, model_facts

MIN_THINKING_TOKENS = 1024
"""The provider's smallest budget; below it thinking is off."""

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
