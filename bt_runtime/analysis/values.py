"""Checks expressions by the types and ranges of what they read, and writes by the types of their keys."""

import ast
import re
from collections.abc import Iterator, Mapping

from bt_runtime.analysis.accesses import (
    Access,
    declared_domains,
    expressions,
    is_unset,
    known_domains,
    warning_at,
    whole_name,
)
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.expressions.analysis import PartFinding, analyse
from bt_runtime.analysis.expressions.domains import LISTS, NULL, Domain, of_type, of_values
from bt_runtime.analysis.flow import Flow, warning
from bt_runtime.analysis.states import names_in
from bt_runtime.language.definition import NodeDefinition, PlacedUse
from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.expressions.compiler import compile_expression
from bt_runtime.language.expressions.syntax import parse
from bt_runtime.language.kind import CallUse, KeyUse, in_words, keys_in
from bt_runtime.text import Mistake, brief

CODES = (
    Code(
        "operation-fails",
        "Part of an expression always raises an error.",
        "Convert the operands to fitting types: `+` adds numbers or joins texts. Numbers of attempts, times and "
        "seconds must be above 0.",
    ),
    Code(
        "null-operand",
        "Part of an expression raises an error while a key is `null`.",
        "Give the key a default, or test for `null` first.",
    ),
    Code(
        "never-equal",
        "The two sides of a comparison can never be equal.",
        "They have different types, or the key cannot have this value. Check the spelling and the case.",
    ),
    Code(
        "always-true",
        "Part of an expression is always true.",
        "The types and ranges of its keys leave no other result. Correct it, or remove it.",
    ),
    Code(
        "always-false",
        "Part of an expression is always false.",
        "The types and ranges of its keys leave no other result. Correct it, or remove it.",
    ),
    Code(
        "wrong-type",
        "The node writes a value of the wrong type to a key.",
        "It fails after the work is done and paid for. Change the type of the key, or convert the value.",
    ),
    Code(
        "braces-not-replaced",
        "Braces in a text stay as they are.",
        "`{key}` works in texts such as `note` and `say`, with names only. In an expression such as a value of "
        "`set`, join texts with `+`.",
    ),
)
_OF_FINDINGS: Mapping[str, tuple[str, str, str]] = {
    "fails": (
        "operation-fails",
        "this is an error whenever it is evaluated",
        "the node then fails; compare and join only values of one type",
    ),
    "null": (
        "null-operand",
        "this is an error while a key has no value",
        "test with 'is not null and ...' first, or give the key a default",
    ),
    "never_equal": (
        "never-equal",
        "this compares values that are never equal",
        "compare with a value that it can have",
    ),
    "always_true": ("always-true", "this is always true", "remove it, or correct it"),
    "always_false": ("always-false", "this is always false", "remove it, or correct it"),
}
"""By what the analysis of an expression finds: the code, the message and the hint."""
_LONGEST_PART = 200
_BRACES = re.compile(r"\{([^{}'\"\n]{1,120})\}")
_SETTINGS = {("for_each", ("in",)), ("retry", ("attempts",)), ("repeat", ("times",)), ("timeout", ("seconds",))}
"""The settings of kinds whose expressions must give a list, or a number above 0."""
_TEXTS = ("message", "text", "hint")
_TYPE_HINT = "the node would fail; write to a key of the right type, or declare another type"


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for node in flow.nodes:
        yield from _unreplaced_name(flow, node)
        yield from _unreplaced_expression(flow, node)
        if flow.is_reached(node):
            for placed, text in expressions(node):
                yield from _of_expression(flow, node, placed, text)
            yield from _written_types(flow, node)
            yield from _settings(flow, node)


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
    analysis = analyse(text, declared, tested=placed.use.at in {("when",), ("until",)})
    always = [each for each in analysis.findings if each.kind in {"never_equal", "always_true", "always_false"}]
    if placed.use.at == ("when",):
        true, false, _ = flow.walk.split(node, text, flow.states(node))
        always = always if true and false else []  # a condition that never changes as a whole is said of its node
    for finding in always:
        yield _warning(node, placed, finding)
    if not always:
        yield from _members(node, placed, text, declared)
        yield from _letters(node, placed, text)


def _has_unwritten(flow: Flow, names: tuple[str, ...]) -> bool:
    """Whether a key among the names is never written, which is said elsewhere."""
    own = {name: key for name in names if (key := flow.tree.keys.get(name)) and name not in flow.registry.keys}
    unset = {name for name, key in own.items() if is_unset(key) and not key.deliverable}
    uses = (placed.use for node in flow.tree.root.walk() for placed in node.uses) if flow.is_whole and unset else ()
    written = {use.key for use in uses if isinstance(use, KeyUse) and use.access == "write"}
    return flow.is_whole and not unset <= written


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
    code, message, hint = _OF_FINDINGS[finding.kind]
    access = Access(node, placed, finding.column)
    message += f": {finding.why}" if finding.why else ""
    return warning_at(access, code, message, hint, length=finding.end_column - finding.column)


# --- writes


def _settings(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """A `for_each` over what is no list; a number of attempts, times or seconds that is 0 whenever it is evaluated."""
    for placed, text in expressions(node):
        at = placed.use.at
        if (node.kind, at) not in _SETTINGS:
            continue
        value = analyse(text, known_domains(flow, node, names_in(text))).domain
        if node.kind == "for_each" and not value.constants & LISTS and not value.is_empty:
            message = f"'in' must be a list, and this gives {value}"
            yield warning_at(Access(node, placed), "wrong-type", message, "the node would fail", length=len(text))
        elif node.kind != "for_each" and value.numbers is not None and value.numbers.most <= 0:
            message = f"{at[0]!r} is never more than 0 here, so {node.kind!r} always fails"
            hint = "write a larger number, such as 'max(1, ...)'"
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
                yield warning_at(access, "never-equal", message, _OF_FINDINGS["never_equal"][2], length=length)


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
    calls = (placed.use for placed in node.uses if isinstance(placed.use, CallUse))
    action = next(((flow.registry.actions or {}).get(call.action) for call in calls), None)
    found = use.type or (action.result if action else None)
    return of_type(found) if found else None


# --- braces in texts, which stay as they are although an author can only have meant a value


def _unreplaced_name(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """Names in braces in a text of an expression, in which nothing is replaced."""
    for placed, text in expressions(node):
        for part in ast.walk(parse(text)) if "{" in text else ():
            if not isinstance(part, ast.Constant) or not isinstance(part.value, str):
                continue
            name = next((each for each in keys_in(part.value) if _is_known(flow, node, each)), None)
            if name is not None:
                message = (
                    f"this is an expression, and braces in its texts are not replaced: '{{{name}}}' stays as it is"
                )
                hint = f"join the value: '...' + {name}; a list needs a 'note' or a 'hint' of a node, which replace it"
                yield warning_at(Access(node, placed), "braces-not-replaced", message, hint, length=len(text))
                break


def _unreplaced_expression(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """Expressions in braces in a text in which names alone are replaced."""
    changed = {name: "{turn}" for name in _TEXTS if isinstance(vars(node.settings).get(name), str)}
    uses = node.settings.model_copy(update=changed).uses() if changed else ()
    if not any(isinstance(use, KeyUse) for use in uses):
        return  # braces are not replaced in its texts
    for name in _TEXTS:
        text = vars(node.settings).get(name)
        for inside in _BRACES.findall(text) if isinstance(text, str) else ():
            if not inside.isidentifier() and _is_expression(flow, node, inside):
                message = f"only a name in braces is replaced: '{{{brief(inside)[1:-1]}}}' stays as it is"
                yield warning(
                    flow, node, "braces-not-replaced", message, "'set' a key of the tree to it before, and name that"
                )
                return


def _is_expression(flow: Flow, node: NodeDefinition, text: str) -> bool:
    try:
        names = names_in(text)
        compile_expression(text, names=names)
    except ExpressionError:
        return False
    return bool(names) and all(_is_known(flow, node, name) for name in names)


def _is_known(flow: Flow, node: NodeDefinition, name: str) -> bool:
    return name in flow.tree.keys or name in node.constants or name in node.private
