"""Judges braces in texts: those that stay as they are, although an author can only have meant a value."""

import ast
import re
from collections.abc import Iterator

from bt_runtime.analysis.accesses import Access, expressions, warning_at
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.conditions import names_in
from bt_runtime.analysis.flow import Flow
from bt_runtime.analysis.warnings import warning
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.expressions.expression import compile_expression
from bt_runtime.language.expressions.syntax import parse
from bt_runtime.language.kind import KeyUse
from bt_runtime.language.templates import keys_in
from bt_runtime.text import Mistake, brief

CODES = (Code("braces-not-replaced", "Braces around a key, or an expression, stay in a text as they are."),)
_BRACES = re.compile(r"\{([^{}'\"\n]{1,120})\}")
_TEXTS = ("message", "text", "hint")


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for node in flow.nodes:
        yield from _in_expressions(flow, node)
        yield from _in_texts(flow, node)


def _in_expressions(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """Names in braces in a text of an expression, in which nothing is replaced."""
    for placed, text in expressions(node):
        for part in ast.walk(parse(text)) if "{" in text else ():
            if not isinstance(part, ast.Constant) or not isinstance(part.value, str):
                continue
            name = next((each for each in keys_in(part.value) if _is_known(flow, node, each)), None)
            if name is not None:
                message = f"this is an expression, in whose texts braces stay as they are: '{{{name}}}' is not replaced"
                hint = f"join the value: '...' + {name}; a list needs a 'note' or a 'hint' of a node, which replace it"
                yield warning_at(Access(node, placed), "braces-not-replaced", message, hint, length=len(text))
                break


def _in_texts(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """Expressions in braces in a text in which names alone are replaced."""
    if not any(isinstance(use, KeyUse) for use in _sample_uses(node)):
        return
    for name in _TEXTS:
        text = vars(node.settings).get(name)
        for inside in _BRACES.findall(text) if isinstance(text, str) else ():
            if not inside.isidentifier() and _is_expression(flow, node, inside):
                message = f"only a name in braces is replaced: '{{{brief(inside)[1:-1]}}}' stays as it is"
                yield warning(
                    flow, node, "braces-not-replaced", message, "'set' a key of the tree to it before, and name that"
                )
                return


def _sample_uses(node: NodeDefinition) -> list[object]:
    """What the node's settings would use if its texts named a key: nothing if braces are not replaced in them."""
    changed = {name: "{turn}" for name in _TEXTS if isinstance(vars(node.settings).get(name), str)}
    return list(node.settings.model_copy(update=changed).uses()) if changed else []


def _is_expression(flow: Flow, node: NodeDefinition, text: str) -> bool:
    try:
        names = names_in(text)
        compile_expression(text, names=names)
    except ExpressionError:
        return False
    return bool(names) and all(_is_known(flow, node, name) for name in names)


def _is_known(flow: Flow, node: NodeDefinition, name: str) -> bool:
    return name in flow.tree.keys or name in node.constants or name in node.private
