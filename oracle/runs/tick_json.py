"""Tick records as JSON and back.

The value of a turn or of tool calls is in its own event (`turn_end`, `tool_end`) before the tick that it caused; the
tick record names it by its key, and does not hold it a second time.
"""

from collections.abc import Mapping
from typing import Any

from bt_runtime import NodeError, Outcome, Status, TickRecord
from oracle.agent.outcome_json import outcome_kind
from oracle.encoding import from_json, to_json

_FIELDS = ("tick", "at_s", "cause", "causes", "deliveries", "visited", "writes")


def is_kept_apart(outcome: Outcome) -> bool:
    """Whether the outcome has an event of its own: it brought something, which must not be done twice."""
    return outcome_kind(outcome) is not None or outcome.value is not None or outcome.error is not None


def encode_tick(record: TickRecord) -> bytes:
    """A tick record as a JSON object.

    Raises:
        TypeError: a blackboard value is no JSON data.
    """
    told: dict[str, Any] = {name: getattr(record, name) for name in _FIELDS}
    told["changes"] = [(index, status.name) for index, status in record.changes]
    told["errors"] = [(error.path, error.error) for error in record.errors]
    told["outcomes"] = [_outcome(each) for each in record.outcomes]
    return to_json(told)


def decode_tick(data: bytes | str, kept: Mapping[str, Outcome] | None = None) -> TickRecord:
    """The tick record behind `encode_tick`'s JSON.

    Args:
        data: the JSON.
        kept: outcomes that have events of their own, by key; where one is missing its value is `None`.

    Raises:
        ValueError: it is no tick record.
    """
    told, kept = from_json(data), kept or {}
    try:
        return TickRecord(
            tick=told["tick"],
            at_s=told["at_s"],
            cause=told["cause"],
            causes=tuple(told["causes"]),
            outcomes=tuple(
                kept.get(each["key"]) or Outcome(each["key"], each["state"], at_s=each["at_s"])
                for each in told["outcomes"]
            ),
            deliveries=tuple((key, value) for key, value in told["deliveries"]),
            visited=tuple(told["visited"]),
            changes=tuple((index, Status[name]) for index, name in told["changes"]),
            writes=tuple((key, value) for key, value in told["writes"]),
            errors=tuple(NodeError(path, error) for path, error in told["errors"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is no tick record: {type(error).__name__}: {error}") from None


def _outcome(outcome: Outcome) -> dict[str, Any]:
    told = {"key": outcome.key, "state": outcome.state, "at_s": outcome.at_s}
    return told | {"kept": True} if is_kept_apart(outcome) else told
