"""Checks writes and tests whose result is lost: overwritten, raced, never reset or never used."""

from collections.abc import Iterator
from itertools import combinations

from bt_runtime.analysis.accesses import Access, accesses, expressions, uses_of, warning_at, whole_name, writes_of
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.flow import Flow, said, steps_of, warning
from bt_runtime.analysis.states import names_in
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.kind import ExpressionUse, KeyUse, is_literal
from bt_runtime.text import Mistake

CODES = (
    Code(
        "parallel-writers",
        "Several branches of a `parallel` write the same key.",
        "The slower branch overwrites the faster one. Give each branch its own key.",
    ),
    Code(
        "set-without-effect",
        "A `set` writes a key to itself.",
        "Correct the expression, or remove the `set`.",
    ),
    Code(
        "test-ignored",
        "A condition is the last step below `force_success` or `force_failure`, so its result is ignored.",
        "Remove the decorator, or let a step depend on the condition.",
    ),
    Code(
        "cleanup-on-halt",
        "Only the `then` of an `on_halt` resets a key that was set before it.",
        "`then` runs only after an interruption, so the key stays set after a normal end. Use `finally`.",
    ),
)


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for node in flow.nodes:
        for placed, text in expressions(node):
            if node.kind == "set" and text.strip() == placed.use.at[-1]:
                message = f"this writes {text.strip()!r} to itself"
                hint = "a text needs inner quotes: \"'text'\"; else remove it"
                yield warning_at(Access(node, placed), "set-without-effect", message, hint, length=len(text))
        is_reached = flow.is_reached(node)
        match node.kind:
            case "for_each":
                yield from _replaced_by_rounds(flow, node)
            case "sequence":
                yield from _replaced_by_steps(flow, node)
            case "parallel":
                yield from _parallel(flow, node)
            case "force_success" | "force_failure" if is_reached:
                yield from _ignored(flow, node)
            case "on_halt" if is_reached:
                yield from _cleanup(flow, node)


# --- what is replaced before anything has read it


def _replaced_by_rounds(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    child = node.children["child"][0]
    read, steps, written = _reads_below(child), tuple(steps_of(child)), _writes_below(child)
    may_fail = getattr(node.settings, "go_on", False)  # a round that fails leaves the value of an earlier one
    results = {name for name, writes in written.items() if any(write.node.kind == "action" for write in writes)}
    for write in (write for found in written.values() for write in found):
        is_sure = write.node in steps and not may_fail
        is_result = is_sure if write.node.kind != "set" else _keeps(child, write, results)
        if is_result and _name_of(write) not in read and write.node.place.file == flow.file:
            yield _lost(write, "the next round")


def _replaced_by_steps(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    waiting: dict[str, Access] = {}
    for child in node.children["children"]:
        for name in _reads_below(child):
            waiting.pop(name, None)
        for key, access in writes_of(child).items() if child.place.file == flow.file else ():
            if key in flow.registry.keys:
                continue  # the host may take it
            if key in waiting:
                yield _lost(waiting[key], said(flow, child))
            waiting[key] = access


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
    message, hint = f"{name!r} is replaced by {by} before anything has read it", "collect it in another key first: "
    return warning_at(write, "key-never-read", message, f"{hint}{name}s + {name}", length=len(name))


def _reads_below(node: NodeDefinition) -> set[str]:
    return {key for below in node.walk() for key, _, is_read in uses_of(below) if is_read}


def _writes_below(node: NodeDefinition) -> dict[str, list[Access]]:
    found: dict[str, list[Access]] = {}
    for below in node.walk():
        for key, access in writes_of(below).items():
            found.setdefault(key, []).append(access)
    return found


# --- what two write at once


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
            if _does_order_matter((*one[key], *other[key])):
                reported.add(key)
                first, second = one[key][0], other[key][0]
                message = (
                    f"{_name_of(second)!r} is written by another branch of the parallel too, on line "
                    f"{first.place.line}: the later one decides which value stays"
                )
                hint = "write different keys, and join them after the parallel"
                at = second.place if second.node.place.file == flow.file else flow.in_file(second.node).place
                length = len(_name_of(second))
                yield warning_at(second, "parallel-writers", message, hint, place=at, length=length)


def _does_order_matter(writes: tuple[Access, ...]) -> bool:
    """Whether the order of writes matters: not where all write the same, or add to what is there."""
    values = [(_name_of(write), _written_value(write)) for write in writes]
    if all(value is not None and name in names_in(value) for name, value in values):
        return False
    return len({value for _, value in values}) > 1 or any(value is None for _, value in values)


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


# --- results that decide nothing


def _ignored(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    below = node.children["child"][0]
    while below.kind in {"sequence", "selector", "inverter"} and getattr(below.settings, "memory", True):
        below = below.children["child" if below.kind == "inverter" else "children"][-1]
    if below.kind != "condition" or below.place.file != flow.file:
        return
    names = set(names_in(getattr(below.settings, "when", "true")))
    others = (text for other in flow.nodes if other is not below for _, text in expressions(other))
    if below in node.children["child"] or not any(names & set(names_in(text)) for text in others):
        result = "SUCCESS" if node.kind == "force_success" else "FAILURE"
        message = f"nothing depends on this: {said(flow, node)} is {result} whatever it finds"
        hint = f"remove {node.kind!r}, or put what depends on the condition behind it in a 'sequence'"
        yield warning(flow, below, "test-ignored", message, hint)


def _cleanup(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """A key that is set before the child, and gets its default back only when the child is interrupted."""
    written = accesses(flow).writes
    earlier = set(flow.tree.paths[: flow.tree.paths.index(node.path)])
    for below in node.children["then"][0].walk():
        for name in writes_of(below) if below.kind == "set" else ():
            key = flow.tree.keys.get(name)
            others = [each.node for each in written.get(name, ()) if each.node is not below]
            if key is None or key.default is None or not others or _literal(below, name) != repr(key.default):
                continue
            if all(
                other.path in earlier and _literal(other, name) not in {None, repr(key.default)} for other in others
            ):
                message = (
                    f"{key.name!r} is reset only when the child is interrupted: it keeps its value when the child ends"
                )
                yield warning(flow, node, "cleanup-on-halt", message, "'finally' runs its 'then' after every end")
                return


def _literal(node: NodeDefinition, name: str) -> str | None:
    """The value that a `set` writes, if it is written out."""
    values = getattr(node.settings, "values", {}) if node.kind == "set" else {}
    found = next((value for key, value in values.items() if whole_name(node, key) == name), None)
    if isinstance(found, str):
        return {"true": "True", "false": "False"}.get(found, found) if is_literal(found) else None
    return None if found is None else repr(found)
