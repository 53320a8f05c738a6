"""Judges what has no say: tests whose result nothing uses, and clean-up that an ordinary end leaves out."""

from collections.abc import Iterator

from bt_runtime.analysis.accesses import accesses, expressions, whole_name
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.conditions import names_in
from bt_runtime.analysis.flow import Flow
from bt_runtime.analysis.warnings import said, warning
from bt_runtime.analysis.writes import own_writes
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.kind import is_literal
from bt_runtime.text import Mistake

CODES = (
    Code("test-ignored", "A condition is the last step of something whose result does not count."),
    Code("cleanup-on-halt", "A key is reset by 'on_halt' alone, so it stays set after an ordinary end."),
)
_FORCED = frozenset({"force_success", "force_failure"})


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for node in flow.nodes:
        if not flow.is_reached(node):
            continue
        if node.kind in _FORCED:
            yield from _ignored(flow, node)
        elif node.kind == "on_halt":
            yield from _cleanup(flow, node)


def _ignored(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    below = node.children["child"][0]
    while below.kind in {"sequence", "selector", "inverter"} and getattr(below.settings, "memory", True):
        below = below.children["child" if below.kind == "inverter" else "children"][-1]
    is_direct = below in node.children["child"]
    if below.kind == "condition" and below.place.file == flow.file and (is_direct or not _is_asked_again(flow, below)):
        result = "SUCCESS" if node.kind == "force_success" else "FAILURE"
        message = f"nothing depends on this: {said(flow, node)} is {result} whatever it finds"
        hint = f"remove {node.kind!r}, or put what depends on the condition behind it in a 'sequence'"
        yield warning(flow, below, "test-ignored", message, hint)


def _is_asked_again(flow: Flow, node: NodeDefinition) -> bool:
    """Whether another node asks about one of the keys of a condition."""
    names = set(names_in(getattr(node.settings, "when", "true")))
    return any(
        names & set(names_in(text)) for other in flow.nodes if other is not node for _, text in expressions(other)
    )


def _cleanup(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """A key that is set before the child, and gets its default back only when the child is interrupted."""
    written = accesses(flow).writes
    for below in node.children["then"][0].walk():
        for write in own_writes(below) if below.kind == "set" else ():
            key = flow.tree.keys.get(write.key)
            others = [each.node for each in written.get(write.key, ()) if each.node is not below]
            if key is None or key.default is None or _literal(below, write.key) != repr(key.default) or not others:
                continue
            if all(_literal(other, write.key) not in {None, repr(key.default)} for other in others) and _is_first(
                flow, others, node
            ):
                message = f"{key.name!r} is reset only when the child is interrupted: it stays as it is when that ends"
                hint = "'finally' runs its 'then' after every end"
                yield warning(flow, node, "cleanup-on-halt", message, hint)
                return


def _literal(node: NodeDefinition, name: str) -> str | None:
    """The value that a `set` writes, if it is written out."""
    values = getattr(node.settings, "values", {}) if node.kind == "set" else {}
    found = next((value for key, value in values.items() if whole_name(node, key) == name), None)
    if isinstance(found, str):
        return {"true": "True", "false": "False"}.get(found, found) if is_literal(found) else None
    return None if found is None else repr(found)


def _is_first(flow: Flow, others: list[NodeDefinition], node: NodeDefinition) -> bool:
    """Whether all of these nodes stand before another one."""
    paths = flow.tree.paths
    return all(paths.index(other.path) < paths.index(node.path) for other in others)
