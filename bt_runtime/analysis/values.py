"""Judges expressions by the types and ranges of what they read, and writes by the types of their keys."""

import ast
from collections.abc import Iterator, Mapping

from bt_runtime.analysis.accesses import (
    Access,
    declared_domains,
    expressions,
    is_tested,
    is_unset,
    known_domains,
    warning_at,
    whole_name,
)
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.conditions import names_in
from bt_runtime.analysis.flow import Flow
from bt_runtime.language.definition import NodeDefinition, PlacedUse
from bt_runtime.language.expressions.analysis import PartFinding, analyse
from bt_runtime.language.expressions.domains import LISTS, NULL, Domain, of_type, of_values
from bt_runtime.language.expressions.syntax import parse
from bt_runtime.language.kind import CallUse, KeyType, KeyUse, in_words
from bt_runtime.text import Mistake

CODES = (
    Code("operation-fails", "A part of an expression is an error whenever it is evaluated."),
    Code("null-operand", "A part of an expression is an error where a key has no value yet."),
    Code("never-equal", "A part of an expression compares what is never equal."),
    Code("always-true", "A part of an expression is always true."),
    Code("always-false", "A part of an expression is always false."),
    Code("wrong-type", "A key gets a value that it cannot hold."),
)
_BY_KIND: Mapping[str, str] = {
    "fails": "operation-fails",
    "null": "null-operand",
    "never_equal": "never-equal",
    "always_true": "always-true",
    "always_false": "always-false",
}
_SAID: Mapping[str, str] = {
    "fails": "this is an error whenever it is evaluated",
    "null": "this is an error while a key has no value",
    "never_equal": "this compares what is never equal",
    "always_true": "this is always true",
    "always_false": "this is always false",
}
_LONGEST_PART = 200
_TYPE_HINT = "the node would fail; write into a key of the right type, or declare another type"
_HINTS: Mapping[str, str] = {
    "fails": "the node fails then; convert nothing, and compare and join values of one type",
    "null": "test with 'is not null and ...' first, or give the key a default",
    "never_equal": "compare with a value that it can have",
    "always_true": "remove it, or correct it",
    "always_false": "remove it, or correct it",
}


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for node in flow.nodes:
        if flow.is_reached(node):
            for placed, text in expressions(node):
                yield from _of_expression(flow, node, placed, text)
            yield from _written_types(flow, node)
            yield from _lists(flow, node)
            yield from _too_small(flow, node)


def _of_expression(flow: Flow, node: NodeDefinition, placed: PlacedUse, text: str) -> Iterator[Mistake]:
    names = names_in(text)
    known, declared = known_domains(flow, node, names), declared_domains(flow, node, names)
    if placed.use.at == ("until",):  # evaluated after the rounds too
        known = {name: domain.union(declared[name]) if domain != NULL else domain for name, domain in known.items()}
    failing = [finding for finding in analyse(text, declared).findings if finding.kind == "fails"]
    if not failing and _has_unwritten(flow, names):
        return
    failing = failing or [
        finding
        for finding in analyse(text, known).findings
        if finding.kind == "fails" or (finding.kind == "null" and _is_null_certain(flow, node, finding))
    ]
    for finding in failing:
        yield _warning(node, placed, finding)
    if failing:
        return
    always = _constant_parts(flow, node, placed, text, declared)
    for finding in always:
        yield _warning(node, placed, finding)
    if not always:
        yield from _members(node, placed, text, declared)
        yield from _letters(node, placed, text)


def _constant_parts(
    flow: Flow, node: NodeDefinition, placed: PlacedUse, text: str, declared: Mapping[str, Domain]
) -> list[PartFinding]:
    """The parts that never change; none of a condition that never changes as a whole, which is said of its node."""
    analysis = analyse(text, declared, tested=is_tested(placed))
    found = [finding for finding in analysis.findings if finding.kind in {"never_equal", "always_true", "always_false"}]
    if placed.use.at == ("when",):
        true, false, _ = flow.walk.split(node, text, flow.states(node))
        if not (true and false):
            return []
    return found


def _has_unwritten(flow: Flow, names: tuple[str, ...]) -> bool:
    """Whether a key among the names is never written, which is said elsewhere."""
    if not flow.is_whole:
        return False
    for name in names:
        key = flow.tree.keys.get(name)
        if (
            key is not None
            and not key.deliverable
            and name not in flow.registry.keys
            and is_unset(key)
            and not _is_written(flow, name)
        ):
            return True
    return False


def _is_written(flow: Flow, name: str) -> bool:
    return any(
        isinstance(placed.use, KeyUse) and placed.use.key == name and placed.use.access == "write"
        for node in flow.tree.root.walk()
        for placed in node.uses
    )


def _is_null_certain(flow: Flow, node: NodeDefinition, finding: PartFinding) -> bool:
    """Whether null comes from a key that may not have been written, not from one about which nothing is known."""
    for name in names_in(finding.part):
        key = flow.tree.keys.get(name)
        if key is None or name in node.constants:
            continue
        holds_null = [None in state.keys[name] for state in flow.states(node) if name in state.keys]
        if key.default is None and any(holds_null) and name not in flow.registry.keys:
            return True
    return False


def _warning(node: NodeDefinition, placed: PlacedUse, finding: PartFinding) -> Mistake:
    why = f": {finding.why}" if finding.why else ""
    message = f"{_SAID[finding.kind]}{why}"
    access = Access(node, placed, finding.column)
    length = finding.end_column - finding.column
    return warning_at(access, _BY_KIND[finding.kind], message, _HINTS[finding.kind], length=length)


# --- writes


def _lists(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """A `for_each` over what is no list."""
    for placed, text in expressions(node):
        if node.kind == "for_each" and placed.use.at == ("in",):
            value = analyse(text, known_domains(flow, node, names_in(text))).domain
            if not value.constants & LISTS and not value.is_empty:
                message = f"'in' must be a list, and this gives {value}"
                yield warning_at(Access(node, placed), "wrong-type", message, "the node would fail", length=len(text))


def _too_small(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """A number of attempts, times or seconds that is 0 whenever it is evaluated."""
    for placed, text in expressions(node):
        if node.kind in {"retry", "repeat", "timeout"} and placed.use.at in {("attempts",), ("times",), ("seconds",)}:
            numbers = analyse(text, known_domains(flow, node, names_in(text))).domain.numbers
            if numbers is not None and numbers.most <= 0:
                message = f"{placed.use.at[0]!r} is never more than 0 here, so {node.kind!r} always fails"
                hint = "write what is larger, such as 'max(1, ...)'"
                yield warning_at(Access(node, placed), "operation-fails", message, hint, length=len(text))


def _members(node: NodeDefinition, placed: PlacedUse, text: str, domains: Mapping[str, Domain]) -> Iterator[Mistake]:
    """Members of a list that what is looked for there can never be."""
    for part in ast.walk(parse(text)):
        if not isinstance(part, ast.Compare) or not isinstance(part.comparators[0], ast.List):
            continue
        elements = part.comparators[0].elts
        looked_for = ast.unparse(part.left)
        if len(part.ops) > 1 or len(elements) < 2 or len(looked_for) > _LONGEST_PART:
            continue
        for element in elements:
            tested = f"({looked_for}) == {ast.unparse(element)}"
            if isinstance(element, ast.Constant) and any(
                finding.kind in {"never_equal", "always_false"} for finding in analyse(tested, domains).findings
            ):
                access = Access(node, placed, element.col_offset + 1)
                message = f"{looked_for!r} is never {element.value!r}"
                length = (element.end_col_offset or element.col_offset + 1) - element.col_offset
                yield warning_at(access, "never-equal", message, _HINTS["never_equal"], length=length)


def _letters(node: NodeDefinition, placed: PlacedUse, text: str) -> Iterator[Mistake]:
    """Small letters looked for where all are capital, and the other way round."""
    for part in ast.walk(parse(text)):
        match part:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                pairs = [(left, right), (right, left)]
            case ast.Compare(left=right, ops=[ast.In() | ast.NotIn()], comparators=[left]):
                pairs = [(left, right)]
            case ast.Call(func=ast.Name(id="startswith" | "contains"), args=[left, right]):
                pairs = [(left, right)]
            case _:
                continue
        for changed, literal in pairs:
            match changed, literal:
                case ast.Call(func=ast.Name(id="lower" | "upper" as name)), ast.Constant(value=str(value)):
                    if value != getattr(value, name)():
                        access = Access(node, placed, literal.col_offset + 1)
                        message = f"{value!r} is never in what {name!r} gives"
                        yield warning_at(access, "never-equal", message, f"write {getattr(value, name)()!r}")


def _written_types(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    for placed in node.uses:
        use = placed.use
        if not isinstance(use, KeyUse) or use.access != "write":
            continue
        key = flow.tree.keys.get(whole_name(node, use.key))
        value = _value_written(flow, node, use) if key is not None else None
        if key is None or value is None or value.is_empty:
            continue
        if value.meet(of_type(key.type, null=True)).is_empty:
            message = f"{use.key!r} must be {in_words(key.type)}, and this gives {value}"
            yield warning_at(Access(node, placed), "wrong-type", message, _TYPE_HINT, length=len(use.key))


def _value_written(flow: Flow, node: NodeDefinition, use: KeyUse) -> Domain | None:
    """What a node writes to a key; `None` if that is not known."""
    if node.kind == "set" and use.at[0] == "values":
        for placed, text in expressions(node):
            if placed.use.at == use.at:
                return analyse(text, known_domains(flow, node, names_in(text))).domain
        return None
    if node.kind == "for_each" and use.at == ("as",):
        items = getattr(node.settings, "items", None)
        return of_values(items) if isinstance(items, list) and items else None
    found = use.type or _result_type(flow, node)
    return of_type(found) if found else None


def _result_type(flow: Flow, node: NodeDefinition) -> KeyType | None:
    """The type of the result of an action of the host."""
    for placed in node.uses:
        if isinstance(placed.use, CallUse):
            action = (flow.registry.actions or {}).get(placed.use.action)
            return action.result if action else None
    return None
