"""What a tree can distinguish: the blackboard keys that its expressions read, and what they are compared with.

What no node can distinguish need not be explored twice. What a node's code reads in addition to its settings is among
the facts that its kind declares; of a tree with a kind that declares none, nothing is proven (`doubts`).
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from bt_runtime import NodeDefinition, TreeDefinition
from bt_runtime.language.expressions.expression import compile_expression
from bt_runtime.language.expressions.syntax import parse
from bt_runtime.language.kind import DeliveryUse, ExpressionUse, KeyUse

SIGNAL_KEYS = frozenset(
    {
        *("signal", "confidence", "malformed_signal", "turns_without_signal", "same_reason", "intent"),
        *("signal_reason", "capability", "may_be_supplied", "blocker", "suggestions"),
    }
)


@dataclass(frozen=True)
class Reads:
    """What one tree reads.

    Args:
        by_node: the keys that each node reads, by its index.
        compared: the literals that each node compares each key with, by its index; `None` instead of a literal if it
            does something else with the value.
        into: the keys that get the text of a turn or of a tool.
    """

    by_node: tuple[frozenset[str], ...]
    compared: tuple[Mapping[str, frozenset[object]], ...]
    roles: frozenset[str]
    into: frozenset[str] = frozenset()

    @cached_property
    def keys(self) -> frozenset[str]:
        """All keys that are read."""
        return frozenset().union(*self.by_node)

    @cached_property
    def largest_number(self) -> float:
        """The largest number in any comparison; counters beyond it are all alike to the tree."""
        return max((number for key in self.keys for number in self.numbers_of(key)), default=0)

    def texts_of(self, key: str) -> tuple[str, ...]:
        """The texts that the key is compared with, in order."""
        return tuple(sorted({each for each in self._literals(key) if isinstance(each, str)}))

    def numbers_of(self, key: str) -> tuple[float, ...]:
        """The numbers that the key is compared with, in order."""
        found = {each for each in self._literals(key) if isinstance(each, int | float) and not isinstance(each, bool)}
        return tuple(sorted(found))

    def _literals(self, key: str) -> Iterator[object]:
        return (literal for compared in self.compared for literal in compared.get(key, ()))


def reads_of(definition: TreeDefinition) -> Reads:
    """Look at each node of a tree."""
    by_node: list[frozenset[str]] = []
    compared: list[Mapping[str, frozenset[object]]] = []
    into: set[str] = set()
    for node in definition.nodes():
        names = set(node.facts.reads or ())
        literals: dict[str, set[object]] = {name: {None} for name in names}
        for use in node.settings.uses():
            if isinstance(use, ExpressionUse):
                names |= _read_expression(use.text, node, definition, literals)
            elif isinstance(use, KeyUse) and use.access == "read" and not node.facts.shows:
                names.add(node.private.get(use.key, use.key))
            elif isinstance(use, DeliveryUse):
                names.add(use.key)
            elif isinstance(use, KeyUse) and use.at == ("into",):
                into.add(node.private.get(use.key, use.key))
        by_node.append(frozenset(names))
        compared.append({key: frozenset(literals.get(key, {None})) for key in names})
    roles = frozenset(role for node in definition.nodes() for role in node.facts.roles)
    return Reads(tuple(by_node), tuple(compared), roles, frozenset(into))


def _read_expression(
    text: str, node: NodeDefinition, definition: TreeDefinition, literals: dict[str, set[object]]
) -> frozenset[str]:
    """The keys that an expression reads; adds what each is compared with."""
    tree = parse(text)
    known = frozenset((*definition.keys, *node.private, *node.constants))
    read = compile_expression(text, names=known).names - node.constants.keys()
    seen: set[str] = set()
    for part in ast.walk(tree):
        if not isinstance(part, ast.Compare | ast.Call):
            continue
        names = {each.id for each in ast.walk(part) if isinstance(each, ast.Name)}
        keys = names & read
        seen |= keys
        constants: set[object] = {each.value for each in ast.walk(part) if isinstance(each, ast.Constant)}
        named = [node.constants[name] for name in names & node.constants.keys()]
        constants |= {value for value in named if isinstance(value, str | int | float)}
        for key in keys:
            own = literals.setdefault(node.private.get(key, key), set())
            own |= constants if len(keys) == 1 and constants else {*constants, None}
    for key in read - seen:  # as a condition of its own: what matters is whether it is empty
        literals.setdefault(node.private.get(key, key), set()).add("")
    return frozenset(node.private.get(name, name) for name in read)
