"""Which nodes read and write each blackboard key, and which values the names in an expression may have there."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bt_runtime.analysis.expressions.domains import ANY, NOTHING, Domain, of_key, of_value
from bt_runtime.analysis.flow import Flow
from bt_runtime.analysis.states import REASON, names_in
from bt_runtime.language.definition import Declaration, NodeDefinition, PlacedUse
from bt_runtime.language.kind import DeliveryUse, ExpressionUse, Key, KeyUse, TreeUse
from bt_runtime.text import Mistake, Place
from bt_runtime.text.data import dataclass

_WORD = re.compile(r"\w+")


class Access(NamedTuple):
    """A use of a key by a node."""

    node: NodeDefinition
    placed: PlacedUse
    column: int = 1

    @property
    def place(self) -> Place:
        """Of the key's name."""
        return self.placed.at(self.column)


@dataclass(frozen=True, slots=True)
class Accesses:
    """The reads and writes of a whole tree, subtrees included, by the name that a key has in the whole tree.

    Args:
        reads: in the order of the tree.
        writes: those that settings name; a host's nodes write further keys.
        in_rules: the words of the rules; a key among them may be read there.
    """

    reads: Mapping[str, tuple[Access, ...]]
    writes: Mapping[str, tuple[Access, ...]]
    in_rules: frozenset[str]


def accesses(flow: Flow) -> Accesses:
    """All of a flow's tree."""
    reads: dict[str, list[Access]] = {}
    writes: dict[str, list[Access]] = {}
    for node in flow.tree.root.walk():
        for key, access, is_read in uses_of(node):
            (reads if is_read else writes).setdefault(key, []).append(access)
    return Accesses(
        {key: tuple(found) for key, found in reads.items()},
        {key: tuple(found) for key, found in writes.items()},
        frozenset(_WORD.findall(repr(flow.tree.rules))),
    )


def uses_of(node: NodeDefinition) -> Iterator[tuple[str, Access, bool]]:
    """The keys that a node's settings name, by their names in the whole tree, and whether each is read."""
    for placed in node.uses:
        use = placed.use
        if isinstance(use, ExpressionUse):
            for name in names_in(use.text):
                if name not in node.constants:
                    match = re.search(rf"\b{re.escape(name)}\b", use.text)
                    yield whole_name(node, name), Access(node, placed, match.start() + 1 if match else 1), True
        elif isinstance(use, KeyUse):
            yield whole_name(node, use.key), Access(node, placed), use.access == "read"
        elif isinstance(use, DeliveryUse):
            yield whole_name(node, use.key), Access(node, placed), True
        elif isinstance(use, TreeUse):
            for root in node.children.get("root", ()):
                for name in use.outputs:
                    yield whole_name(root, name), Access(node, placed), True


def writes_of(node: NodeDefinition) -> dict[str, Access]:
    """The keys that a node's settings name, as written in the file."""
    return {
        whole_name(node, placed.use.key): Access(node, placed)
        for placed in node.uses
        if isinstance(placed.use, KeyUse) and placed.use.access == "write"
    }


def whole_name(node: NodeDefinition, name: str) -> str:
    """The name of a node's key in the whole tree; it differs for private keys."""
    return node.private.get(name, name)


def own_keys(flow: Flow) -> tuple[Declaration, ...]:
    """The keys that the file declares, without host keys whose default it changes."""
    return tuple(
        declared
        for declared in flow.tree.declarations
        if not declared.is_parameter
        and declared.place.file == flow.file
        and declared.key.name not in flow.registry.keys
    )


def names_of(flow: Flow, key: Key) -> frozenset[str]:
    """The names that a key of the file has in the whole tree: one, or one for each inclusion if it is private."""
    if not key.private:
        return frozenset({key.name})
    return frozenset(node.private[key.name] for node in flow.nodes if key.name in node.private)


def expressions(node: NodeDefinition) -> Iterator[tuple[PlacedUse, str]]:
    """The expressions of a node."""
    for placed in node.uses:
        if isinstance(placed.use, ExpressionUse):
            yield placed, placed.use.text


def known_domains(flow: Flow, node: NodeDefinition, names: tuple[str, ...]) -> dict[str, Domain]:
    """What names may hold when a node is ticked."""
    states = flow.states(node)
    found: dict[str, Domain] = {}
    for name in names:
        if name in node.constants or name in node.private:
            found[name] = _declared(flow, node, name)
            continue
        domain = NOTHING
        for state in states:
            domain = domain.union(flow.domain(state, name))
        found[name] = domain if states else ANY
    return found


def declared_domains(flow: Flow, node: NodeDefinition, names: tuple[str, ...]) -> dict[str, Domain]:
    """What names may hold at any time, by their declarations."""
    return {name: _declared(flow, node, name) for name in names}


def _declared(flow: Flow, node: NodeDefinition, name: str) -> Domain:
    if name in node.constants:
        return parameter_domain(flow, node, name)
    return declared_domain(flow, whole_name(node, name))


def declared_domain(flow: Flow, name: str) -> Domain:
    """What a key may hold at any time."""
    key = flow.tree.keys.get(name)
    if key is None:
        return ANY
    if key.read_only:
        return of_key(key)
    return of_key(key).union(of_value(None))


def parameter_domain(flow: Flow, node: NodeDefinition, name: str) -> Domain:
    """The values that a parameter may have, for any argument."""
    for declared in flow.tree.declarations:
        if declared.is_parameter and declared.key.name == name and declared.place.file == node.place.file:
            default = declared.key.default
            return of_key(declared.key).union(NOTHING if default is None else of_value(default))
    return ANY


def is_unset(key: Key) -> bool:
    """Whether the initial value of a key is empty: null, false, 0, or an empty text, list or map."""
    return not key.default


def may_change(flow: Flow, node: NodeDefinition) -> frozenset[str] | None:
    """The keys that may change while a node is running; `None`: any."""
    written = flow.walk.written(node)
    below = tuple(node.walk())
    for above in flow.above(node):
        if above.kind == "parallel":
            written |= flow.walk.written(above)
            below += tuple(above.walk())
    if written.everything:
        return None
    kinds = flow.registry.kinds
    ends = any(kinds[each.kind].category == "guard" or (kinds[each.kind].waits and not each.children) for each in below)
    delivered = {name for name, key in flow.tree.keys.items() if key.deliverable}
    return written.keys | delivered | {"cancel_requested"} | ({REASON} if ends else set())


def warning_at(
    access: Access, code: str, message: str, hint: str | None, *, place: Place | None = None, length: int = 1
) -> Mistake:
    """A warning about a use."""
    at = access.place if place is None else place
    end = Place(at.file, at.line, at.column + length)
    return Mistake(at, message, hint, access.node.path, code, "warning", end)
