"""Tick records as JSON and back.

The value of a turn or of tool calls has an event of its own (`turn_end`, `tool_end`) before the tick that it caused;
the tick record refers to it by its key.
"""

from collections.abc import Mapping
from typing import Any

from bt_runtime import NodeError, Outcome, Status, TickRecord
from oracle.agent.outcome_json import outcome_kind
from oracle.encoding import from_json, to_json

_FIELDS = ("tick", "at_s", "cause", "causes", "deliveries", "visited", "writes")


def is_kept_apart(outcome: Outcome) -> bool:
    """Whether the outcome has an event of its own: it has a value or an error, whose work must not be done twice."""
    return outcome_kind(outcome) is not None or outcome.value is not None or outcome.error is not None


def encode_tick(record: TickRecord) -> bytes:
    """A tick record as a JSON object.

    Raises:
        TypeError: a blackboard value is not JSON data.
    """
    fields: dict[str, Any] = {name: getattr(record, name) for name in _FIELDS}
    fields["changes"] = [(index, status.name) for index, status in record.changes]
    fields["errors"] = [(error.path, error.error) for error in record.errors]
    fields["outcomes"] = [_outcome(each) for each in record.outcomes]
    return to_json(fields)


def decode_tick(data: bytes | str, kept: Mapping[str, Outcome] | None = None) -> TickRecord:
    """The tick record behind `encode_tick`'s JSON.

    Args:
        data: the JSON.
        kept: outcomes that have events of their own, by key; the value of one that is missing is `None`.

    Raises:
        ValueError: it is not a tick record.
    """
    fields, kept = from_json(data), kept or {}
    try:
        return TickRecord(
            tick=fields["tick"],
            at_s=fields["at_s"],
            cause=fields["cause"],
            causes=tuple(fields["causes"]),
            outcomes=tuple(
                kept.get(each["key"]) or Outcome(each["key"], each["state"], at_s=each["at_s"])
                for each in fields["outcomes"]
            ),
            deliveries=tuple((key, value) for key, value in fields["deliveries"]),
            visited=tuple(fields["visited"]),
            changes=tuple((index, Status[name]) for index, name in fields["changes"]),
            writes=tuple((key, value) for key, value in fields["writes"]),
            errors=tuple(NodeError(path, error) for path, error in fields["errors"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is not a tick record: {type(error).__name__}: {error}") from None


def _outcome(outcome: Outcome) -> dict[str, Any]:
    fields = {"key": outcome.key, "state": outcome.state, "at_s": outcome.at_s}
    return fields | {"kept": True} if is_kept_apart(outcome) else fields
