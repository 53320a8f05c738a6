"""What the events that are tried cannot decide: a property that depends on it is not proven.

Rules:

- A rule's condition about arguments of tools is decided if arguments that make it true, and others that make it false,
  are tried. They are made of the constants of the condition.
- A condition about texts or numbers that the model, a tool or the outside chooses freely is not decided.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, Final

from bt_runtime import EventPattern, ExpressionError, Rule, TreeDefinition
from bt_runtime.language.expressions.syntax import parse
from bt_runtime.language.kind import ExpressionUse, KeyUse
from bt_runtime.language.rules.matching import condition_of
from oracle.agent.rules.vocabulary import IS_APPROVED
from oracle.authoring.verifying.properties import conditions_of, names_in, policies_of
from oracle.authoring.verifying.reads import Reads

Arguments = tuple[tuple[str, Any], ...]

_FREE: Final = frozenset(
    {
        *("question", "signal_reason", "capability", "blocker", "suggestions"),
        *("sources", "tokens_used", "pending_calls", "seconds_left"),
    }
)
"""Keys whose values are not all tried."""

_FREE_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "tool_result": frozenset({"result"}),
    "signal": frozenset({"reason", "confidence"}),
    "turn_end": frozenset({"tool_calls"}),
    "end": frozenset({"tokens"}),
    "delivery": frozenset({"value"}),
}
_MOST_ARGUMENTS = 500


def doubts_of(definition: TreeDefinition, reads: Reads) -> tuple[str, ...]:
    """Why no property of the tree is proven; empty if nothing stands against it."""
    found = []
    if "sources" in reads.keys:
        found.append("the tree reads `sources`, and the tools that are tried bring none")
    if numbers := reads.numbers_of("tokens_used"):
        shown = ", ".join(f"{number:g}" for number in numbers)
        found.append(f"the tree compares `tokens_used` with {shown}; tried are 0, 55, 97 and 100 % of the budget")
    if "seconds_left" in reads.keys:
        found.append("the tree reads `seconds_left`, and time passes only where something hangs until a limit")
    if "pending_calls" in reads.keys:
        found.append("the tree reads `pending_calls`, and few arguments are tried")
    undeclared = dict.fromkeys(node.kind for node in definition.nodes() if not node.facts.are_declared)
    found += [f"the kind {kind!r} does not declare what it reads and keeps (`facts`)" for kind in undeclared]
    for name in sorted(reads.keys & definition.keys.keys()):
        key = definition.keys[name]
        if key.deliverable and key.type not in ("bool", "str", "int", "float"):
            found.append(f"the tree reads {name!r}, of whose values from outside none is tried")
    return tuple(found)


def doubts_of_rule(rule: Rule, definition: TreeDefinition, reads: Reads) -> tuple[str, ...]:
    """Why a rule is not proven, even if nothing has broken it."""
    return tuple(
        f"the events that are tried do not decide the condition {pattern.where!r}"
        for _, pattern in conditions_of((rule,))
        if not _is_decided(pattern, definition, reads)
    )


def _is_decided(pattern: EventPattern, definition: TreeDefinition, reads: Reads) -> bool:
    if pattern.type == "tool":
        return names_in(pattern) <= {IS_APPROVED} or len(arguments_for(pattern)) > 1
    if pattern.type == "approval":
        return names_in(pattern) <= {"is_edited"}
    if pattern.type == "tool_result":
        return names_in(pattern) <= {"is_error"}
    if pattern.type == "key":
        keys = frozenset(pattern.names or definition.keys)
        asks_whether_empty = pattern.where.strip() in {"value", "not value"}
        return asks_whether_empty or keys.isdisjoint(_free_keys(definition, reads))
    return names_in(pattern).isdisjoint(_FREE_FIELDS.get(pattern.type, frozenset()))


def _free_keys(definition: TreeDefinition, reads: Reads) -> frozenset[str]:
    """The keys whose values are chosen freely outside of the tree, or made of such values."""
    free = set(_FREE | reads.into)
    free |= {name for name, key in definition.keys.items() if key.deliverable}
    while True:
        more = {key for node in definition.nodes() for key in _written(node, free)} - free
        if not more:
            return frozenset(free)
        free |= more


def _written(node: Any, free: set[str]) -> Iterator[str]:  # noqa: ANN401  a node's definition
    """The keys that a node writes, if it reads one of those."""
    uses = tuple(node.settings.uses())
    words = {
        name.id
        for use in uses
        if isinstance(use, ExpressionUse)
        for name in ast.walk(parse(use.text))
        if isinstance(name, ast.Name)
    }
    if not {node.private.get(word, word) for word in words}.isdisjoint(free):
        yield from (
            node.private.get(use.key, use.key) for use in uses if isinstance(use, KeyUse) and use.access == "write"
        )


def arguments_of(definition: TreeDefinition) -> tuple[tuple[Sequence[str], Arguments], ...]:
    """The arguments that the rules of a tree distinguish, each with the names of the tools; no names stand for any."""
    patterns = [pattern for _, pattern in conditions_of(definition.rules) if pattern.type == "tool"]
    for each in policies_of(definition):
        if each.when is not None:
            names = (each.tool,) if each.is_exact else None
            patterns.append(EventPattern("tool", names, each.when, fields=None))
    return tuple((pattern.names or (), arguments) for pattern in patterns for arguments in arguments_for(pattern))


def arguments_for(pattern: EventPattern) -> tuple[Arguments, ...]:
    """Arguments that make the condition of a pattern true, and others that make it false, as far as there are any."""
    names = sorted(names_in(pattern) - {IS_APPROVED})
    condition, found = condition_of(pattern), dict[bool, Arguments]()
    constants = [each.value for each in ast.walk(parse(pattern.where)) if isinstance(each, ast.Constant)]
    beside = [value + step for value in constants if isinstance(value, int | float) for step in (1, -1)]
    candidates = [*dict.fromkeys([*constants, *beside, "something else", True, False])]
    values_of = islice(product(candidates, repeat=len(names)), _MOST_ARGUMENTS)
    for values, is_approved in product(values_of, (False, True)):
        fields = dict(zip(names, values, strict=True))
        try:
            holds = bool(condition.evaluate({**fields, IS_APPROVED: is_approved}.get))
        except ExpressionError:
            continue
        found.setdefault(holds, tuple(fields.items()))
    return tuple(found.values())
