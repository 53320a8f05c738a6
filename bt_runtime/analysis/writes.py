"""Judges writes of the blackboard: what is replaced before it is read, written to itself, or written by two at once."""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from bt_runtime.analysis.accesses import Access, expressions, warning_at, whole_name
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.conditions import names_in
from bt_runtime.analysis.flow import Flow
from bt_runtime.analysis.warnings import said, steps_of
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.kind import ExpressionUse, KeyUse
from bt_runtime.text import Mistake

CODES = (
    Code("parallel-writers", "Several branches of a 'parallel' write one key."),
    Code("set-without-effect", "A 'set' writes a key to itself."),
)


class WriteAccess(NamedTuple):
    """A write of a key."""

    key: str
    access: Access


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for node in flow.nodes:
        for placed, text in expressions(node):
            if node.kind == "set" and text.strip() == placed.use.at[-1]:
                message = f"this writes {text.strip()!r} to itself"
                hint = "a text needs quotes of its own: \"'text'\"; else remove it"
                yield warning_at(Access(node, placed), "set-without-effect", message, hint, length=len(text))
        yield from _overwritten(flow, node)
        if node.kind == "parallel":
            yield from _parallel(flow, node)


def _overwritten(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """What the next step, or the next round, replaces before anything has read it."""
    if node.kind == "for_each":
        child = node.children["child"][0]
        read, steps = _reads_below(child), tuple(steps_of(child))
        may_fail = getattr(node.settings, "go_on", False)  # a round that fails leaves the value of an earlier one
        results = {name for found in _writes_below(child).items() for name in _of_calls(*found)}
        for write in (write for found in _writes_below(child).values() for write in found):
            is_sure = write.node in steps and not may_fail
            is_result = is_sure if write.node.kind != "set" else _keeps(child, write, results)
            if is_result and _name_of(write) not in read and write.node.place.file == flow.file:
                yield _lost(write, "the next round")
    if node.kind == "sequence":
        waiting: dict[str, Access] = {}
        for child in node.children["children"]:
            for name in _reads_below(child):
                waiting.pop(name, None)
            for written in own_writes(child) if child.place.file == flow.file else ():
                if written.key in flow.registry.keys:
                    continue  # the host may take it
                before = waiting.get(written.key)
                if before is not None:
                    yield _lost(before, said(flow, child))
                waiting[written.key] = written.access


def _of_calls(name: str, writes: list[Access]) -> Iterator[str]:
    """A key, if it gets what a call brings."""
    if any(write.node.kind == "action" for write in writes):
        yield name


def _keeps(round_: NodeDefinition, write: Access, results: set[str]) -> bool:
    """Whether a step of each round, behind which none can end the rounds, writes what a call has brought in it."""
    steps = round_.children["children"] if round_.kind == "sequence" else (round_,)
    value = _written_value(write)
    if write.node not in steps or value is None:
        return False
    later = steps[steps.index(write.node) + 1 :]
    asks = any(below.kind in {"condition", "if", "switch"} for step in later for below in step.walk())
    return not asks and bool(results & {whole_name(write.node, name) for name in names_in(value)})


def _lost(write: Access, by: str) -> Mistake:
    name = _name_of(write)
    message = f"{name!r} is replaced by {by} before anything has read it"
    return warning_at(
        write, "key-never-read", message, f"collect it in another key first: {name}s + {name}", length=len(name)
    )


def _reads_below(node: NodeDefinition) -> set[str]:
    found: set[str] = set()
    for below in node.walk():
        for placed in below.uses:
            if isinstance(placed.use, ExpressionUse):
                found |= {whole_name(below, name) for name in names_in(placed.use.text)}
            elif isinstance(placed.use, KeyUse) and placed.use.access == "read":
                found.add(whole_name(below, placed.use.key))
    return found


def _parallel(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    settings = node.settings
    is_race = getattr(settings, "until", None) is not None or getattr(settings, "success", "all") in {"one", 1}
    if is_race or getattr(settings, "max_concurrent", None) == 1:
        return  # the first one counts, or one runs after the other
    branches = [_writes_below(child) for child in node.children["children"]]
    reported: set[str] = set()
    for one, other in combinations(branches, 2):
        flow.walk.budget.spend()
        for key in sorted(one.keys() & other.keys() - reported):
            if _is_race(one[key], other[key]):
                reported.add(key)
                yield _race(flow, one[key][0], other[key][0], _name_of(other[key][0]))


def _writes_below(node: NodeDefinition) -> dict[str, list[Access]]:
    found: dict[str, list[Access]] = {}
    for below in node.walk():
        for written in own_writes(below):
            found.setdefault(written.key, []).append(written.access)
    return found


def own_writes(node: NodeDefinition) -> Iterator[WriteAccess]:
    """The keys that the settings of a node name as written."""
    for placed in node.uses:
        if isinstance(placed.use, KeyUse) and placed.use.access == "write":
            yield WriteAccess(whole_name(node, placed.use.key), Access(node, placed))


def _is_race(one: list[Access], other: list[Access]) -> bool:
    """Whether the order of the writes matters: not where all write the same, or add to what is there."""
    values = [_written_value(write) for write in (*one, *other)]
    if all(
        value is not None and _name_of(write) in names_in(value)
        for write, value in zip((*one, *other), values, strict=True)
    ):
        return False
    return None in values or len(set(values)) > 1


def _name_of(write: Access) -> str:
    """The key as the node that writes it calls it."""
    return write.placed.use.key if isinstance(write.placed.use, KeyUse) else ""


def _written_value(write: Access) -> str | None:
    """The expression that a `set` writes; `None` for another node."""
    key = _name_of(write)
    for placed, text in expressions(write.node):
        if isinstance(placed.use, ExpressionUse) and placed.use.at == ("values", key):
            return text
    values = getattr(write.node.settings, "values", None)
    return repr(values[key]) if isinstance(values, dict) and key in values else None


def _race(flow: Flow, one: Access, other: Access, key: str) -> Mistake:
    message = (
        f"{key!r} is written by another branch of the parallel too, on line {one.place.line}: the later one decides "
        "which value stays"
    )
    own = other.node.place.file == flow.file
    place = other.place if own else flow.in_file(other.node).place
    hint = "write different keys, and join them behind the parallel"
    return warning_at(other, "parallel-writers", message, hint, place=place, length=len(key))
