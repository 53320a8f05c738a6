"""What the provider documents about each Claude model that requests of the product do not depend on.

Sources (platform.claude.com): "Effort", "Prompt caching" (minimum lengths), "Errors" (prefill) and "Thinking".
"""

from bt_runtime.text.data import dataclass
from oracle.features.claude.facts import Version, family_and_version

_ALL_EFFORTS = ("low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class Documented:
    """What a model accepts and how it behaves.

    Args:
        efforts: the accepted values of `output_config.effort`; empty if there are none.
        forced_tools: whether `tool_choice` may be `any` or `tool` while the model does not think.
        prefill: whether the last message may be the assistant's.
        keeps_thinking: whether thinking of earlier turns stays in the context after the next user message.
        least_cached_tokens: shorter prefixes are not cached; no error reports it.
    """

    efforts: tuple[str, ...] = _ALL_EFFORTS
    forced_tools: bool = True
    prefill: bool = False
    keeps_thinking: bool = True
    least_cached_tokens: int = 1024


def documented(model: object) -> Documented:
    """What is documented about a model of that name; for a name without a version the strictest rules."""
    named = family_and_version(str(model))
    if named is None:
        return Documented()
    family, version = named
    return Documented(
        efforts=_efforts(family, version),
        forced_tools=version <= (5, 0),
        prefill=version < (4, 6),
        keeps_thinking=version >= ((4, 5) if family == "opus" else (4, 6)),
        least_cached_tokens=_least_cached(family, version),
    )


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
