"""Tick records as JSON and back: a compact form for the log, a plain one for clients.

Rules of the compact form:

- Fields with their default are left out: no causes (of an `outcome`: the keys of the outcomes), no writes, and so on.
- `visited` is a flat list of pairs: nodes skipped since the last one (negative where the walk went back), nodes visited
  in a row. `[0, 3, 5, 2]` is 0, 1, 2, 8, 9.
- `changes` is a flat list of pairs: index of a node, and the first letters of the statuses from there on. A dot is a
  node without a change, a number repeats the letter before it: `[4, "SS.R", 90, "I40"]`.
- The value of a turn or of tool calls has an event of its own (`turn_end`, `tool_end`) before the tick that it caused;
  the tick refers to it by its key. An outcome is `[key, at_s]` if it is `done` and has such an event, else `[key, at_s,
  state, is_kept]`.
- A long text that was written and is the text of an outcome of the tick is not stored again: the write is
  `[key, null, n]`, for the n-th outcome of the tick.

"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from bt_runtime import NodeError, Outcome, Status, TickRecord
from oracle.agent.outcomes import TurnOutcome
from oracle.core.encoding import from_json, to_json
from oracle.runs.record.outcome_json import outcome_kind

_FORM: Final = 2
_STATUSES: Final = {status.name[0]: status for status in Status}
_LONGEST_GAP: Final = 4  # nodes without a change that dots stand for; beyond that a new pair is shorter
_LONG_TEXT: Final = 64  # characters; below that a reference is not worth while
_REPEATED: Final = re.compile(r"([SFRI])\1{7,}")
_PAIR: Final = 2
_LETTERS: Final = re.compile(r"([SFRI.])(\d*)")


def is_kept_apart(outcome: Outcome) -> bool:
    """Whether the outcome has an event of its own: it has a value or an error, whose work must not be done twice."""
    return outcome_kind(outcome) is not None or outcome.value is not None or outcome.error is not None


def encode_tick(record: TickRecord, *, is_timed: bool = True) -> bytes:
    """A tick record in the compact form.

    Args:
        record: the tick.
        is_timed: with its duration; without it, equal records have equal bytes.

    Raises:
        TypeError: a blackboard value is not JSON data.
    """
    fields: dict[str, Any] = {"form": _FORM, "tick": record.tick, "at_s": record.at_s, "cause": record.cause}
    if record.causes != _usual_causes(record.cause, record.outcomes):
        fields["causes"] = record.causes
    if record.outcomes:
        fields["outcomes"] = [_outcome(each) for each in record.outcomes]
    if record.deliveries:
        fields["deliveries"] = record.deliveries
    if record.visited:
        fields["visited"] = _ranges(record.visited)
    if record.changes:
        fields["changes"] = _letters(record.changes)
    if record.writes:
        fields["writes"] = [_write(key, value, record.outcomes) for key, value in record.writes]
    if record.errors:
        fields["errors"] = [(error.path, error.error) for error in record.errors]
    if is_timed and record.took_ms:
        fields["took_ms"] = round(record.took_ms, 3)
    return to_json(fields)


def decode_tick(data: bytes | str, kept: Mapping[str, Outcome] | None = None) -> TickRecord:
    """The tick record behind `encode_tick`'s JSON.

    Args:
        data: the JSON.
        kept: outcomes that have events of their own, by key; the value of one that is missing is `None`.

    Raises:
        ValueError: it is not a tick record.
    """
    fields = _fields(data)
    try:
        return _decoded(fields, kept or {})
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"this is not a tick record: {type(error).__name__}: {error}") from None


def decode_statuses(data: bytes | str) -> tuple[Sequence[int], Sequence[tuple[int, Status]]]:
    """The visited nodes and the changes of a tick alone, at a fraction of what `decode_tick` costs.

    Raises:
        ValueError: it is not a tick record.
    """
    fields = _fields(data)
    try:
        return _visited(fields.get("visited", ())), _changes(fields.get("changes", ()))
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"this is not a tick record: {type(error).__name__}: {error}") from None


def plain_tick(record: TickRecord) -> dict[str, Any]:
    """A tick record as clients get it: every field, one entry for each node."""
    return {
        "tick": record.tick,
        "at_s": record.at_s,
        "cause": record.cause,
        "causes": record.causes,
        "deliveries": record.deliveries,
        "visited": record.visited,
        "writes": record.writes,
        "changes": [(index, status.name) for index, status in record.changes],
        "errors": [(error.path, error.error) for error in record.errors],
        "outcomes": [_plain_outcome(each) for each in record.outcomes],
        "took_ms": record.took_ms,
    }


def refers_to_outcomes(data: bytes) -> bool:
    """Whether the tick has a written text that is in the event of an outcome."""
    return any(len(write) > _PAIR for write in from_json(data).get("writes", ()))


def _fields(data: bytes | str) -> Mapping[str, Any]:
    fields: object = from_json(data)
    if not isinstance(fields, Mapping) or fields.get("form") != _FORM:
        raise ValueError(f"this is not a tick record of the form {_FORM}")
    return fields


def _usual_causes(cause: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    return tuple([outcome.key for outcome in outcomes]) if cause == "outcome" else ()


def _outcome(outcome: Outcome) -> tuple[Any, ...]:
    is_kept = is_kept_apart(outcome)
    if is_kept and outcome.state == "done":
        return outcome.key, outcome.at_s
    return outcome.key, outcome.at_s, outcome.state, is_kept


def _plain_outcome(outcome: Outcome) -> dict[str, Any]:
    fields = {"key": outcome.key, "state": outcome.state, "at_s": outcome.at_s}
    return fields | {"kept": True} if is_kept_apart(outcome) else fields


def _write(key: str, value: Any, outcomes: Sequence[Outcome]) -> tuple[Any, ...]:  # noqa: ANN401  JSON data
    if isinstance(value, str) and len(value) >= _LONG_TEXT:
        for number, outcome in enumerate(outcomes):
            if _text_of(outcome) == value:
                return key, None, number
    return key, value


def _text_of(outcome: Outcome) -> str | None:
    value = outcome.value
    if isinstance(value, TurnOutcome):
        return value.text
    return value if isinstance(value, str) else None


def _ranges(visited: Sequence[int]) -> list[int]:
    pairs: list[int] = []
    before = 0
    first = after = visited[0]
    for index in visited:
        if index == after:
            after += 1
            continue
        pairs += (first - before, after - first)
        before, first, after = after, index, index + 1
    pairs += (first - before, after - first)
    return pairs


def _visited(pairs: Sequence[int]) -> tuple[int, ...]:
    visited: list[int] = []
    at = 0
    for skipped, count in zip(pairs[::2], pairs[1::2], strict=True):
        at += skipped
        visited += range(at, at + count)
        at += count
    return tuple(visited)


def _letters(changes: Sequence[tuple[int, Status]]) -> list[int | str]:
    # All letters at once, cut where nodes are left out: mostly each node follows the one before.
    letters = "".join([status._name_[0] for _, status in changes])  # `name` is a property, at four times the cost
    indices = [index for index, _ in changes]
    first = after = indices[0]
    if indices == list(range(first, first + len(indices))):
        return [first, _shortened(letters)]
    pairs: list[int | str] = [first]
    text, begun = "", 0
    for at, index in enumerate(indices):
        if index != after:
            text += letters[begun:at]
            begun, gap = at, index - after
            if 0 < gap <= _LONGEST_GAP:
                text += "." * gap
            else:
                pairs += (_shortened(text), index)
                text = ""
        after = index + 1
    pairs.append(_shortened(text + letters[begun:]))
    return pairs


def _shortened(letters: str) -> str:
    return _REPEATED.sub(lambda found: f"{found[1]}{len(found[0])}", letters)


def _changes(pairs: Sequence[Any]) -> tuple[tuple[int, Status], ...]:
    changes: list[tuple[int, Status]] = []
    for first, text in zip(pairs[::2], pairs[1::2], strict=True):
        if text.isalpha():  # each node follows the one before
            changes += zip(range(first, first + len(text)), map(_STATUSES.__getitem__, text), strict=True)
            continue
        at = first
        for letter, times in _LETTERS.findall(text):
            count = int(times or 1)
            if letter != ".":
                changes += [(index, _STATUSES[letter]) for index in range(at, at + count)]
            at += count
    return tuple(changes)


def _decoded(fields: Mapping[str, Any], kept: Mapping[str, Outcome]) -> TickRecord:
    outcomes = tuple(_kept_or(kept, *each) for each in fields.get("outcomes", ()))
    return TickRecord(
        tick=fields["tick"],
        at_s=fields["at_s"],
        cause=fields["cause"],
        causes=tuple(fields["causes"]) if "causes" in fields else _usual_causes(fields["cause"], outcomes),
        outcomes=outcomes,
        deliveries=tuple((key, value) for key, value in fields.get("deliveries", ())),
        visited=_visited(fields.get("visited", ())),
        changes=_changes(fields.get("changes", ())),
        writes=tuple(_written(outcomes, *each) for each in fields.get("writes", ())),
        errors=tuple(NodeError(path, error) for path, error in fields.get("errors", ())),
        took_ms=fields.get("took_ms", 0.0),
    )


def _kept_or(
    kept: Mapping[str, Outcome],
    key: str,
    at_s: float,
    state: Literal["done", "failed", "cancelled"] = "done",
    _is_kept: object = None,
) -> Outcome:
    return kept.get(key) or Outcome(key, state, at_s=at_s)


def _written(outcomes: Sequence[Outcome], key: str, value: Any, number: int | None = None) -> tuple[str, Any]:  # noqa: ANN401
    return (key, value) if number is None else (key, _text_of(outcomes[number]))
