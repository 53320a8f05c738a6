"""The flow of control through a tree, as far as it is known before a run.

    flow = flow_of(tree, registry=registry)
    flow.is_reached(node), flow.results(node), flow.states(node), flow.exits

It is sound: what it calls impossible does not happen in any run. It ignores errors that a tree cannot handle: a run
that a supervisor ends early visits fewer nodes, and a number that grows beyond 64 bits fails its node.

Each file is checked by itself: an included tree with unknown key values, because other trees may include it too.
Warnings that depend on where a tree is included are reported at the node that includes it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial

from bt_runtime.analysis import repetitions, transfers
from bt_runtime.analysis.expressions.domains import Domain, of_key, of_type, of_value
from bt_runtime.analysis.host import Budget, HostChecks, Transfer, host_of
from bt_runtime.analysis.states import BLAME, FAULT, LAST, ONCE, STOPPED_BY, TAKEN, EndStates, Known, Partition, State
from bt_runtime.analysis.walk import Walk
from bt_runtime.kinds import BUILTIN_KINDS
from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.language.registry import Registry
from bt_runtime.text import Edit, Fix, Mistake, Place
from bt_runtime.text.data import dataclass

TRANSFERS: Mapping[str, Transfer] = {
    "sequence": partial(transfers.in_order, passes_on="success"),
    "selector": partial(transfers.in_order, passes_on="failure"),
    "parallel": transfers.parallel,
    "if": transfers.if_,
    "switch": transfers.switch,
    "inverter": transfers.inverter,
    "force_success": transfers.force_success,
    "force_failure": transfers.force_failure,
    "retry": partial(repetitions.repeated, setting="attempts", on="failure"),
    "repeat": partial(repetitions.repeated, setting="times", on="success"),
    "for_each": repetitions.for_each,
    "loop": repetitions.loop,
    "guarded": repetitions.guarded,
    "timeout": transfers.timeout,
    "cooldown": transfers.cooldown,
    "once": transfers.once,
    "finally": transfers.finally_,
    "on_halt": transfers.on_halt,
    "subtree": transfers.subtree,
    "condition": transfers.condition,
    "set": transfers.set_,
    "action": transfers.action,
    "wait": transfers.wait,
}
"""The flows of the kinds of the runtime that need code, by the kind's name.

A kind's own `flow` takes precedence. Nothing is known of another class that has taken the name of a kind.
"""


@dataclass(frozen=True)
class Flow:
    """What is known of one file's tree.

    The queries of a judge count against the budget of the check.

    Args:
        file: the file that is judged; nodes of other files are walked through, and judged with their own.
        is_whole: a query can name the tree; else it is a part of others, and nothing is known about the state in which
            it begins.
        exits: the ends of the root.
    """

    tree: TreeDefinition
    registry: Registry
    root: NodeDefinition
    file: str
    is_whole: bool
    walk: Walk
    exits: EndStates

    @cached_property
    def nodes(self) -> tuple[NodeDefinition, ...]:
        """The nodes of the file, in its order."""
        return tuple(node for node in self.root.walk() if node.place.file == self.file)

    @cached_property
    def all_nodes(self) -> Mapping[str, NodeDefinition]:
        """Every node by its path, those of included files among them."""
        return {node.path: node for node in self.root.walk()}

    @cached_property
    def parents(self) -> Mapping[str, NodeDefinition]:
        """The parent of every node but the root, by the path of the child."""
        return {
            child.path: node for node in self.root.walk() for children in node.children.values() for child in children
        }

    def above(self, node: NodeDefinition) -> Iterator[NodeDefinition]:
        """The ancestors of a node, the nearest first."""
        self.walk.budget.spend()
        parent = self.parents.get(node.path)
        while parent is not None:
            yield parent
            parent = self.parents.get(parent.path)

    def in_file(self, node: NodeDefinition) -> NodeDefinition:
        """A node of the file itself; for one of an included file the node that includes it."""
        if node.place.file == self.file:
            return node
        return next((above for above in self.above(node) if above.place.file == self.file), self.root)

    def is_reached(self, node: NodeDefinition) -> bool:
        """Whether it can be ticked."""
        self.walk.budget.spend()
        return node.path in self.walk.seen

    def results(self, node: NodeDefinition) -> frozenset[str]:
        """Which of `success`, `failure` and `waiting` it can return; empty if it is not reached."""
        self.walk.budget.spend()
        seen = self.walk.seen.get(node.path)
        return frozenset(seen.results) if seen else frozenset()

    def states(self, node: NodeDefinition) -> tuple[State, ...]:
        """What is known when it is ticked."""
        self.walk.budget.spend()
        found = self._states.get(node.path)
        if found is None:
            seen = self.walk.seen.get(node.path)
            found = self._states[node.path] = self.walk.partition.merged(seen.states) if seen else ()
        return found

    @cached_property
    def _states(self) -> dict[str, tuple[State, ...]]:
        """The states of the nodes that a check has asked for, joined."""
        return {}

    def domain(self, state: State, key: str) -> Domain:
        """What a key may hold."""
        self.walk.budget.spend()
        return self.walk.partition.domain(state, key)

    def named(self, paths: Iterable[str]) -> tuple[NodeDefinition, ...]:
        """The nodes with these paths, in the order of the tree."""
        self.walk.budget.spend()
        wanted = frozenset(paths)
        return tuple(node for path, node in self.all_nodes.items() if path in wanted)

    def noted(self, states: Iterable[State], fact: str) -> tuple[NodeDefinition, ...]:
        """The nodes whose paths a fact has in one of these states, in the order of the tree."""
        return self.named(path.removeprefix(FAULT) for state in states for path in state.facts.get(fact, ()))


def flow_of(tree: TreeDefinition, *, registry: Registry, budget: Budget | None = None) -> Flow:
    """The flow of a tree from its own file.

    Raises:
        OverBudgetError: it would take too long to find out.
    """
    return _walked(tree, registry, tree.root, tree.file, is_whole=not tree.internal, budget=budget or Budget())


def flows_of_parts(tree: TreeDefinition, *, registry: Registry, budget: Budget | None = None) -> Iterator[Flow]:
    """The flows of the files that a tree includes, each once and by itself.

    Raises:
        OverBudgetError: it would take too long to find them out.
    """
    done = {tree.file}
    budget = budget or Budget()
    for node in tree.root.walk():
        if node.place.file not in done:
            done.add(node.place.file)
            yield _walked(tree, registry, node, node.place.file, is_whole=False, budget=budget)


def _walked(
    tree: TreeDefinition, registry: Registry, root: NodeDefinition, file: str, *, is_whole: bool, budget: Budget
) -> Flow:
    host = host_of(registry)
    known = host.known(tree) if is_whole else Known()
    delivered = frozenset(name for name, key in tree.keys.items() if key.deliverable) - host.volatile
    apart = (*host.apart, *sorted(TAKEN + name for name in delivered))
    partition = Partition(apart, {**_declared(tree, host), **known.bounds}, known)
    types = {name: of_type(key.type, null=True) for name, key in tree.keys.items()}
    shipped = {kind.name for kind in BUILTIN_KINDS if registry.kinds.get(kind.name, kind).factory is kind.factory}
    flows = {**{name: flow for name, flow in TRANSFERS.items() if name in shipped}, **host.transfers}
    walk = Walk(
        registry, host, partition, transfers=flows, own_file=file, types=types, delivered=delivered, budget=budget
    )
    entry = _entry(tree, host) if is_whole else State()
    return Flow(tree, registry, root, file, is_whole, walk, exits=walk.paths(root, (entry,)))


def _declared(tree: TreeDefinition, host: HostChecks) -> Mapping[str, Domain]:
    return {
        name: host.declared.get(name) or (of_key(key) if key.read_only else of_key(replace(key, default=None)))
        for name, key in tree.keys.items()
    }


def _entry(tree: TreeDefinition, host: HostChecks) -> State:
    """What is known at the start of a run."""
    keys = {
        name: of_value(key.default)
        for name, key in tree.keys.items()
        if name not in host.given | host.volatile and not key.deliverable
    }
    facts = {name: frozenset({value}) for name, value in host.facts.items()}
    facts |= {ONCE + node.path: frozenset({""}) for node in tree.root.walk() if node.kind == "once"}
    facts |= {TAKEN + name: frozenset({""}) for name, key in tree.keys.items() if key.deliverable}
    return State(keys, {**facts, BLAME: frozenset(), LAST: frozenset(), STOPPED_BY: frozenset()})


_ITEM = re.compile(r"[ \t]*- *")


def warning(
    flow: Flow, node: NodeDefinition, code: str, message: str, hint: str | None = None, *, removable: bool = False
) -> Mistake:
    """A warning about a node.

    Args:
        hint: what would be right, for the author; `None`: nothing to add.
        flow: of the file that is judged; for a node of another file the place is the node that includes it.
        node: the node meant.
        code: of `bt_runtime.analysis.codes`, or of the host.
        message: what is wrong, with the line of the cause.
        removable: the mistake is gone when the node is removed.
    """
    at = flow.in_file(node)
    end = Place(at.place.file, at.place.line, at.place.column + len(at.kind))
    removal = removal_of(flow, at) if removable and at is node else None
    return Mistake(at.place, message, hint, at.path, code, "warning", end, (removal,) if removal else ())


def said(flow: Flow, node: NodeDefinition) -> str:
    """A node in messages: `'stop' on line 14`, with its file if that is another one."""
    if node.place.file == flow.file:
        return f"{node.kind!r} on line {node.place.line}"
    return f"{node.kind!r} on line {node.place.line} of {node.place.file.rpartition('/')[2]}"


def number_of(node: NodeDefinition, setting: str) -> float | None:
    """A setting of a node that is a number; `None` for an expression, and where there is none."""
    value = vars(node.settings).get(setting)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def steps_of(node: NodeDefinition) -> Iterator[NodeDefinition]:
    """The steps of a node: the children of a sequence, nested sequences included, or the node itself."""
    if node.kind == "sequence":
        for child in node.children["children"]:
            yield from steps_of(child)
    else:
        yield node


def removal_of(flow: Flow, node: NodeDefinition) -> Fix | None:
    """Removes a node that is an item of a list with other items, in lines of its own; `None` where that is not so."""
    parent = flow.parents.get(node.path)
    siblings = next((nodes for nodes in parent.children.values() if node in nodes), ()) if parent else ()
    lines = flow.tree.texts.get(flow.file, "").splitlines()
    line, column = node.place.line, node.place.column
    if len(siblings) < 2 or line > len(lines):
        return None
    before = lines[line - 1][: column - 1]
    if not _ITEM.fullmatch(before):
        return None
    indent = len(before) - len(before.lstrip())
    end = line
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent):
        end += 1  # lines that continue the item
    while end > line and not lines[end - 1].strip():
        end -= 1
    edit = Edit(Place(flow.file, line), Place(flow.file, end + 1), "")
    return Fix(f"Remove {node.kind!r}", (edit,))
