"""Reads the history of another installation, and checks what its types cannot say.

Rules:

- Sizes are bounded before anything is built: bytes, depth, number of values.
- Numbers are finite and within what a run can reach; indices name nodes that exist; ticks are in order; spans lie
  inside of their texts.
- Texts, and the names of users and of what the model has called, may have any characters: views escape
  them. What a tree names has no control characters.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from typing import Any, Final

from pydantic import ValidationError

from oracle.core.chunks import Interrupt
from oracle.core.encoding import from_json
from oracle.core.errors import UserError
from oracle.replay.histories import model
from oracle.replay.histories.codec import history_reader
from oracle.replay.histories.model import FORMAT, VERSION, History
from oracle.replay.histories.view import add_view

MOST_BYTES: Final = 256 * 1024 * 1024
MOST_DEPTH: Final = 100
MOST_VALUES: Final = 10_000_000
MOST_NODES: Final = 100_000
LONGEST_NAME: Final = 4_096
_LONGEST_PLACE: Final = 200
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
LARGEST: Final = 10**15
"""Of any number that counts or measures something."""
_NODES: Final = frozenset({"node", "parent", "decider", "decision"})
"""Fields that name a node of the tree by its index."""
_FREE: Final = frozenset({"value", "confidence"})
"""Fields with what a blackboard or a model holds: any number may stand there."""
_FROM_ZERO: Final = frozenset({"line", "column"})
_ELSEWHERE: Final = frozenset({"rows", "clauses", "operands", "visited", "changes", "writes", "deliveries"})
"""Fields that are made anew, or that `_check_own` looks at."""
_NAMES: Final[Mapping[type, frozenset[str]]] = {
    model.RunFacts: frozenset({"id", "context_id", "tree"}),
    model.TreeFacts: frozenset({"name", "version", "file"}),
    model.NodeFacts: frozenset({"path", "kind", "category", "slot", "file", "name"}),
    model.KeyFacts: frozenset({"name", "type"}),
    model.NoticeFacts: frozenset({"type", "severity"}),
    model.TextFacts: frozenset({"type"}),
    model.DebugFacts: frozenset({"path", "key", "result", "why"}),
    model.UnderWayFacts: frozenset({"what", "how"}),
    Interrupt: frozenset({"id", "tool_name"}),
    model.EndFacts: frozenset({"reason"}),
}
"""The fields that hold names, by the part of a history; other texts may have any characters."""


class DamagedHistoryError(UserError):
    """A text is no history of a run; the message says why."""


def history_from_json(data: bytes | str) -> History:
    """The history behind `history_to_json`'s JSON; `data` may be hostile.

    Raises:
        DamagedHistoryError: it is something else, or of another version of the format.
    """
    data = data.encode(errors="replace") if isinstance(data, str) else data
    _check_size(data)
    try:
        found = from_json(data)
    except (ValueError, RecursionError):
        raise DamagedHistoryError("this is not JSON; a file that `oracle runs export RUN` has written is") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DamagedHistoryError("this is not an exported run; `oracle runs export RUN` makes one")
    if found.get("version") != VERSION or found["version"] is True:
        version = repr(found.get("version"))[:50]
        raise DamagedHistoryError(f"this export has version {version} of the format, and only {VERSION} is known")
    _check_depth(found)
    del found  # a large part of the memory
    try:
        history = history_reader().validate_json(data, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])[:_LONGEST_PLACE]
        raise DamagedHistoryError(f"the export is damaged at {where or 'its beginning'}: {first['msg']}") from None
    _check_history(history)
    add_view(history)  # what the file says of that is not taken over
    return history


def _check_size(data: bytes) -> None:
    """Check what a parser of JSON would have to bear.

    Raises:
        DamagedHistoryError: it is larger than an export can be.
    """
    if len(data) > MOST_BYTES:
        raise DamagedHistoryError(f"the export has {len(data):,} bytes; at most {MOST_BYTES:,} are read")
    most = sum(map(data.count, (b",", b"[", b"{"))) + 1  # commas of texts are counted as well
    if most > MOST_VALUES:
        raise DamagedHistoryError(f"the export may have {most:,} values; at most {MOST_VALUES:,} are read")


def _check_depth(found: object) -> None:
    """Check the depth of parsed values, without recursion.

    Raises:
        DamagedHistoryError: they are nested more deeply than an export can be.
    """
    waiting: list[Iterator[Any]] = [iter((found,))]
    while waiting:
        inner = next((value for value in waiting[-1] if isinstance(value, dict | list)), None)
        if inner is None:
            waiting.pop()
            continue
        waiting.append(iter(inner.values() if isinstance(inner, dict) else inner))
        if len(waiting) > MOST_DEPTH:
            raise DamagedHistoryError(f"the export is nested more than {MOST_DEPTH} levels deep")


def _check_history(history: History) -> None:
    """Check that the parts of a history fit each other.

    Raises:
        DamagedHistoryError: they do not; the message names the first place.
    """
    tree = history.tree
    for at, node in enumerate(tree.nodes if tree else ()):
        if at == MOST_NODES:
            raise _damaged("tree.nodes", f"there are more than {MOST_NODES:,}")
        if node.index != at:
            raise _damaged(f"tree.nodes.{at}", f"node {node.index} is at the position of node {at}")
        if node.parent is not None and not 0 <= node.parent < at:
            raise _damaged(f"tree.nodes.{at}", f"node {node.parent} does not come before it")
    before = 0
    for at, tick in enumerate(history.ticks):
        if tick.tick <= before:
            raise _damaged(f"ticks.{at}", f"tick {tick.tick} comes after tick {before}")
        before = tick.tick
    for at, turn in enumerate(history.turns, start=1):
        if turn.n != at:
            raise _damaged(f"turns.{at - 1}", f"turn {turn.n} is at the position of turn {at}")
    _check_part(history, MOST_NODES if tree is None else len(tree.nodes), "")


def _check_part(part: Any, nodes: int, where: str) -> None:  # noqa: ANN401  any part of a history
    """Check the fields of a part, and the parts below it; `nodes` is how many the tree has."""
    _check_own(part, nodes, where)
    names = _NAMES.get(type(part), ())
    for name in _checked_fields(part.__class__):
        value = getattr(part, name)
        if isinstance(value, str):
            _check_names((value,) if name in names else (), where)
        elif isinstance(value, int | float):
            if name in _NODES:
                _check_nodes((value,), nodes, where)
            elif name not in _FREE or isinstance(part, model.FigureFacts):
                _check_number(value, where, least=0 if name in _FROM_ZERO else -LARGEST)
        elif is_dataclass(value):
            _check_part(value, nodes, f"{where}{name}.")
        elif isinstance(value, list | tuple) and value and is_dataclass(value[0]) and name != "why":
            for at, each in enumerate(value):
                _check_part(each, nodes, f"{where}{name}.{at}.")


@cache
def _checked_fields(kind: Any) -> tuple[str, ...]:  # noqa: ANN401  a dataclass
    return tuple(field.name for field in fields(kind) if field.name not in _ELSEWHERE)


def _check_own(part: Any, nodes: int, where: str) -> None:  # noqa: ANN401  any part of a history
    """Check what a part of one kind alone has."""
    match part:
        case model.RunFacts():
            for number in part.limits.values():
                _check_number(number, where)
        case model.TreeFacts():
            _check_names(part.files, where)
        case model.TickFacts():
            _check_nodes((*part.visited, *(index for index, _ in part.changes)), nodes, where)
            _check_names((key for key, _ in (*part.writes, *part.deliveries)), where)
        case model.EvaluationFacts(text=text):
            for clause in part.clauses:
                if not 0 <= clause.start <= clause.end <= len(text):
                    raise _damaged(where, f"{clause.start}-{clause.end} is not within {len(text)} characters")
            for operand in part.operands:
                if any(not 0 <= at < len(text) for at in operand.at):
                    raise _damaged(where, f"{operand.name[:50]!r} is not in the text")


def _damaged(where: str, problem: str) -> DamagedHistoryError:
    return DamagedHistoryError(f"the export is damaged at {where.rstrip('.') or 'its beginning'}: {problem}")


def _check_nodes(indices: Iterable[float], nodes: int, where: str) -> None:
    for index in indices:
        if not 0 <= index < nodes:
            raise _damaged(where, f"there is no node {index}")


def _check_number(number: float, where: str, *, least: float = -LARGEST) -> None:
    if not (isfinite(number) and least <= number <= LARGEST):
        raise _damaged(where, f"{number!r} is out of range")


def _check_names(names: Iterable[str], where: str) -> None:
    for name in names:
        if len(name) > LONGEST_NAME or _CONTROL.search(name):
            raise _damaged(where, f"{name[:50]!r} is not a name")
