"""Outcomes as JSON and back, so that a run can be repeated from its log."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import TypeAdapter

from bt_runtime import Outcome
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.core.encoding import from_json, to_json

OutcomeKind = Literal["turn_end", "tool_end"]

_ABSENT_IF_EMPTY = ("cache_miss", "message_id")
"""Fields that only some providers fill."""

_VALUES: Mapping[OutcomeKind, TypeAdapter[Any]] = {
    "turn_end": TypeAdapter(TurnOutcome),
    "tool_end": TypeAdapter(ToolsOutcome),
}


def outcome_kind(outcome: Outcome) -> OutcomeKind | None:
    """The kind of the outcome: of a turn, of tool calls, or (`None`) of a node whose value is JSON data itself."""
    if isinstance(outcome.value, TurnOutcome):
        return "turn_end"
    return "tool_end" if isinstance(outcome.value, ToolsOutcome) else None


def encode_outcome(outcome: Outcome) -> bytes:
    """The outcome as a JSON object: `{kind, key, state, value, error, at_s}`.

    Raises:
        TypeError: its value is no JSON data.
    """
    kind = outcome_kind(outcome)
    value = outcome.value if kind is None else _VALUES[kind].dump_python(outcome.value, mode="json")
    if kind == "turn_end":
        value = {name: each for name, each in value.items() if each or name not in _ABSENT_IF_EMPTY}
        if value["fault"] is not None and value["fault"]["narrower"] is None:
            del value["fault"]["narrower"]
    elif kind == "tool_end":
        value["results"] = [_without_empty_offers(each) for each in value["results"]]
    return to_json(
        {
            "kind": kind,
            "key": outcome.key,
            "state": outcome.state,
            "value": value,
            "error": outcome.error,
            "at_s": outcome.at_s,
        }
    )


def _without_empty_offers(result: dict[str, Any]) -> dict[str, Any]:
    """Few results have any."""
    if not result["offers"]:
        del result["offers"]
    return result


def decode_outcome(data: bytes | str) -> Outcome:
    """The outcome that `encode_outcome` has encoded.

    Raises:
        ValueError: it is not an encoded outcome.
    """
    fields = from_json(data)
    kind = fields.pop("kind")
    if kind is not None:
        fields["value"] = _VALUES[kind].validate_json(to_json(fields["value"]))
    return Outcome(**fields)
