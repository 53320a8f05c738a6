"""Explanations shared by several node kinds; `bt_runtime.text.phrases` has what does not depend on nodes."""

from typing import Any

from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.nodes.base import Node
from bt_runtime.record.status import FAILURE, INVALID, RUNNING, SUCCESS, Status
from bt_runtime.text.phrases import value_of

_SAID = {SUCCESS: "yes", FAILURE: "no", RUNNING: "running", INVALID: "halted"}
_SAYS = {SUCCESS: "said yes", FAILURE: "said no", RUNNING: "is running", INVALID: "was halted"}


def said(status: Status) -> str:
    """`yes`, `no`."""
    return _SAID[status]


def says(status: Status) -> str:
    """`said yes`, `said no`, `is running`, `was halted`."""
    return _SAYS[status]


def changes_line(node: Node[Any], step: Stepped) -> str:
    """What the step has written, by the names in the node's tree: `strategies 0 → 1, hint "" → "Go on."`."""
    names = {on_board: name for name, on_board in node.definition.private.items()}
    return ", ".join(
        f"{names.get(write.key, write.key)} {value_of(write.before)} → {value_of(write.value)}" for write in step.writes
    )


def condition_words(step: Stepped) -> Words:
    """Of a node that is its expression: `signal "stuck" → yes`."""
    if not step.evaluations:
        return Words()
    last = step.evaluations[-1]
    if last.error:
        return Words(last.verdict, f"The condition could not be evaluated: {last.error}.")
    operands = last.operands_line
    text = f"{operands} → {'yes' if last.value else 'no'}" if operands else last.verdict
    holds = "The condition is true" if last.value else "The condition is not true"
    return Words(text, f"{holds}: {operands}." if operands else f"{holds}.")


def choice_words(step: Stepped, found: str) -> Words:
    """Of a node that has chosen one of its children by an expression."""
    if step.evaluations and step.evaluations[-1].error:
        return Words(found, f"Its expression could not be evaluated: {step.evaluations[-1].error}.")
    if not step.ticked:
        return Words(found, f"No child matches: {found}." if found else "")
    child = step.ticked[-1]
    chosen = f" was chosen ({found}) and" if found else ""
    return Words(found, f"{child.title}{chosen} {says(child.status)}.")
