"""Reads the history of another installation, and checks what its types cannot say.

Rules:

- Sizes are bounded before anything is built: bytes, depth, number of values.
- Numbers are finite and within what a run can reach; indices name nodes that exist; ticks are in order; spans lie
  inside of their texts.
- Texts, and the names of users and of what the model has called, may have any characters: views escape
  them. What a tree names has no control characters.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any, Final

from pydantic import ValidationError

from oracle.core.encoding import from_json
from oracle.core.errors import UserError
from oracle.replay.histories.codec import history_reader
from oracle.replay.histories.model import (
    FORMAT,
    VERSION,
    CallFacts,
    DecisionFacts,
    EvaluationFacts,
    History,
    InterruptFacts,
    TickFacts,
    TurnFacts,
    VisitFacts,
)
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
    for where, problem in _problems(history):
        raise DamagedHistoryError(f"the export is damaged at {where}: {problem}")


def _problems(history: History) -> Iterator[tuple[str, str]]:
    nodes, run = len(history.tree.nodes) if history.tree else None, history.run
    yield from _names("run", (run.id, run.context_id, run.tree))
    yield from _numbers("run", (run.created_at, run.finished_at, run.turns, run.tokens_used, *run.limits.values()))
    yield from _tree(history)
    for at, key in enumerate(history.keys):
        yield from _names(f"keys.{at}", (key.name, key.type))
    yield from _ticks(history.ticks, nodes)
    yield from _turns(history.turns, nodes)
    yield from _calls(history.calls, nodes)
    yield from _said(history)


def _ticks(ticks: Sequence[TickFacts], nodes: int | None) -> Iterator[tuple[str, str]]:
    before = 0
    for at, tick in enumerate(ticks):
        if tick.tick <= before:
            yield f"ticks.{at}.tick", f"tick {tick.tick} comes after tick {before}"
        before = tick.tick
        yield from _tick(f"ticks.{at}", tick, nodes)


def _turns(turns: Sequence[TurnFacts], nodes: int | None) -> Iterator[tuple[str, str]]:
    for at, turn in enumerate(turns):
        where = f"turns.{at}"
        if turn.n != at + 1:
            yield f"{where}.n", f"turn {turn.n} stands in the place of turn {at + 1}"
        yield from _node(f"{where}.node", turn.node, nodes)
        yield from _numbers(where, (turn.began_tick, turn.ended_tick, turn.began_s, turn.ended_s, turn.first_text_ms))
        yield from _numbers(where, (turn.input_tokens, turn.output_tokens, turn.tokens))


def _calls(calls: Sequence[CallFacts], nodes: int | None) -> Iterator[tuple[str, str]]:
    for at, call in enumerate(calls):
        yield from _node(f"calls.{at}.node", call.node, nodes)
        yield from _numbers(f"calls.{at}", (call.turn, call.began_tick, call.ended_tick, call.began_s, call.ended_s))


def _said(history: History) -> Iterator[tuple[str, str]]:
    for at, notice in enumerate(history.notices):
        yield from _numbers(f"notices.{at}", (notice.tick, notice.turn, notice.at_s))
        yield from _names(f"notices.{at}", (notice.type, notice.severity))
    for at, text in enumerate(history.texts):
        yield from _numbers(f"texts.{at}", (text.tick, text.turn, text.at_s))
        yield from _names(f"texts.{at}", (text.type,))
    for at, breach in enumerate(history.breaches):
        yield from _numbers(f"breaches.{at}", (breach.tick, breach.turn))
    for at, done in enumerate(history.debug):
        yield from _numbers(f"debug.{at}", (done.tick, done.at_s, done.paused_s))
        yield from _names(f"debug.{at}", (done.path, done.key, done.result, done.why))
    for at, seam in enumerate(history.seams):
        yield from _numbers(f"seams.{at}", (seam.tick, seam.at_s, seam.attempt, seam.pause_s, seam.counted_s))
        yield from _names(f"seams.{at}", (word for each in seam.under_way for word in (each.what, each.how)))
    people: tuple[InterruptFacts | DecisionFacts, ...] = (*history.interrupts, *history.decisions)
    for at, asked in enumerate(people):
        yield from _numbers(f"interrupts or decisions, {at}", (asked.tick, asked.at_s))
        yield from _names(f"interrupts or decisions, {at}", (asked.interrupt.id, asked.interrupt.tool_name))
    if history.end is not None:
        yield from _node("end.node", history.end.node, len(history.tree.nodes) if history.tree else None)
        yield from _numbers("end.tick", (history.end.tick,))
        yield from _names("end.reason", (history.end.reason,))


def _tree(history: History) -> Iterator[tuple[str, str]]:
    tree = history.tree
    if tree is None:
        return
    if len(tree.nodes) > MOST_NODES:
        yield "tree.nodes", f"there are more than {MOST_NODES:,}"
    yield from _names("tree", (tree.name, tree.version, tree.file, *tree.files))
    for at, node in enumerate(tree.nodes):
        where = f"tree.nodes.{at}"
        if node.index != at:
            yield f"{where}.index", f"node {node.index} stands in the place of node {at}"
        if node.parent is not None and not 0 <= node.parent < at:
            yield f"{where}.parent", f"node {node.parent} does not stand before it"
        yield from _names(where, (node.path, node.kind, node.category, node.slot, node.file, node.name))
        yield from _numbers(where, (node.line, node.column), least=0)


def _tick(where: str, tick: TickFacts, nodes: int | None) -> Iterator[tuple[str, str]]:
    yield from _numbers(where, (tick.tick, tick.at_s, tick.took_ms, tick.turn))
    for index in (*tick.visited, *(index for index, _ in tick.changes)):
        yield from _node(f"{where}.visited", index, nodes)
    yield from _node(f"{where}.decision", tick.decision, nodes)
    yield from _names(where, (key for key, _ in (*tick.writes, *tick.deliveries)))
    for at, visit in enumerate(tick.visits):
        yield from _visit(f"{where}.visits.{at}", visit, nodes)


def _visit(where: str, visit: VisitFacts, nodes: int | None) -> Iterator[tuple[str, str]]:
    for index in (visit.node, visit.parent, visit.decider):
        yield from _node(where, index, nodes)
    yield from _numbers(where, (part for each in visit.figures for part in (each.value, each.limit)))
    for at, evaluation in enumerate(visit.evaluations):
        yield from _evaluation(f"{where}.evaluations.{at}", evaluation)


def _evaluation(where: str, evaluation: EvaluationFacts) -> Iterator[tuple[str, str]]:
    length = len(evaluation.text)
    yield from _numbers(where, (evaluation.line, evaluation.column), least=0)
    for clause in evaluation.clauses:
        if not 0 <= clause.start <= clause.end <= length:
            yield f"{where}.clauses", f"{clause.start}-{clause.end} is no part of {length} characters"
    for operand in evaluation.operands:
        if any(not 0 <= at < length for at in operand.at):
            yield f"{where}.operands", f"{operand.name[:50]!r} does not stand in the text"


def _node(where: str, index: int | None, nodes: int | None) -> Iterator[tuple[str, str]]:
    if index is not None and not 0 <= index < (MOST_NODES if nodes is None else nodes):
        yield where, f"there is no node {index}"


def _numbers(where: str, numbers: Iterable[float | None], *, least: float = -LARGEST) -> Iterator[tuple[str, str]]:
    for number in numbers:
        if number is not None and not (isfinite(number) and least <= number <= LARGEST):
            yield where, f"{number!r} is out of range"


def _names(where: str, names: Iterable[str | None]) -> Iterator[tuple[str, str]]:
    for name in names:
        if name and (len(name) > LONGEST_NAME or _CONTROL.search(name)):
            yield where, f"{name[:50]!r} is no name"
