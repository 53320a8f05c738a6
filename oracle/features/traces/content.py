"""Questions, answers, arguments and results in the form that the conventions give to content; bounded."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from oracle.core.encoding import scrub, to_json

LONGEST: Final = 16_384
"""Characters of one text."""


def text(value: str, *, longest: int = LONGEST) -> str:
    """The text as an attribute can have it: of bounded length, and Unicode that can be encoded."""
    left_out = len(value) - longest
    return scrub(value) if left_out <= 0 else f"{scrub(value[:longest])}… ({left_out:,} more characters)"


def message(role: str, said: str, calls: Sequence[tuple[str, str, Mapping[str, Any]]] = (), *, reason: str = "") -> str:
    """One message, as the JSON of a list of messages.

    Args:
        role: `user` or `assistant`.
        said: its text.
        calls: tool calls: id, name, arguments.
        reason: why the model stopped; empty if that is not known.
    """
    parts: list[dict[str, Any]] = [{"type": "text", "content": text(said)}] if said else []
    parts += [
        {"type": "tool_call", "id": call_id, "name": name, "arguments": _bounded(given)}
        for call_id, name, given in calls
    ]
    return _json([{"role": role, "parts": parts, **({"finish_reason": reason} if reason else {})}])


def arguments(given: Mapping[str, Any]) -> str:
    """The arguments of a tool call as JSON; too long ones are cut off."""
    return text(_json(dict(given)))


def _bounded(given: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON data
    encoded = _json(dict(given))
    return dict(given) if len(encoded) <= LONGEST else text(encoded)


def _json(value: Any) -> str:  # noqa: ANN401  what a model wrote
    try:
        return to_json(value).decode()
    except (TypeError, ValueError, RecursionError):
        return '"(not JSON)"'
