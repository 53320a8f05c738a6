"""What scenarios have visited of the trees: nodes, and the results that each node can have.

Each node counts once for being visited, which is a branch of its parent, and once for each result that it can have: a
condition must have been true and false, a turn must have ended, failed and been halted. Nodes of a file that is
included at several places are counted once. What a node can return follows from its kind and its children; a result
that the rest of the tree makes impossible is counted all the same.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from bt_runtime import NodeDefinition, Registry, Status, TreeDefinition, build
from bt_runtime.kinds.guarded import UnderGuards
from bt_runtime.language.kind import CALLS_HOST, LeafFlow
from bt_runtime.nodes.base import ANY_END, Ends, Node
from bt_runtime.text import Place
from bt_runtime.text.data import dataclass
from oracle.agent.nodes import REGISTRY
from oracle.agent.nodes.roles import ASKS_MODEL
from oracle.features.scenarios.expectations import short_name
from oracle.features.scenarios.played import Played

_HALTED: Final = "HALTED"
_WORDS: Final[Mapping[str, str]] = {
    Status.SUCCESS.name: "never succeeded",
    Status.FAILURE.name: "never failed",
    Status.RUNNING.name: "was never running",
    _HALTED: "was never halted",
}
_OF_CASES: Final = {"success": Status.SUCCESS, "failure": Status.FAILURE, "waiting": Status.RUNNING}
_INTERRUPT: Final = frozenset({"parallel", "timeout"})
_AS_CHILDREN: Final = frozenset({"if", "once"})
"""Kinds with the results of their children: what else is known of them counts errors in expressions too."""
_NO_ORDINARY_FAILURE: Final = frozenset({"set"})
"""Leaves of which the checker says more than their results: they fail by an error in an expression alone."""
_MADE_TO_FAIL: Final = frozenset({ASKS_MODEL, CALLS_HOST})
"""The roles of leaves whose failures from outside a scenario can script; of others, only ordinary results count."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Something of a tree that nothing has visited.

    Args:
        what: says in words what never happened.
    """

    place: Place
    node: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.node} {self.what}"


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """What was visited of a tree file.

    Args:
        nodes: visited and all.
        results: had and possible.
        gaps: in the order of the file.
    """

    file: str
    nodes: tuple[int, int]
    results: tuple[int, int]
    gaps: tuple[Gap, ...]

    @property
    def covered(self) -> tuple[int, int]:
        """Nodes and results together."""
        return self.nodes[0] + self.results[0], self.nodes[1] + self.results[1]

    def to_json(self) -> dict[str, Any]:
        """The figures and the gaps as a JSON object."""
        gaps = [
            {"line": gap.place.line, "column": gap.place.column, "node": gap.node, "what": gap.what}
            for gap in self.gaps
        ]
        figures = {"nodes": list(self.nodes), "results": list(self.results)}
        return {"file": self.file, "percent": round(percent(*self.covered), 1), **figures, "gaps": gaps}

    def __str__(self) -> str:
        nodes, results = ("{} of {}".format(*pair) for pair in (self.nodes, self.results))
        return f"{self.file}: {percent(*self.covered):.1f} % ({nodes} nodes, {results} results)"


@dataclass(slots=True)
class _Node:
    """A node of a file, wherever that is included."""

    name: str
    possible: set[str] = field(default_factory=set)
    is_visited: bool = False
    had: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Coverage:
    """What has been visited so far.

    Args:
        registry: the kinds that the trees were read with.
    """

    registry: Registry = REGISTRY
    _nodes: dict[Place, _Node] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def know(self, tree: TreeDefinition) -> None:
        """Count a tree, visited or not."""
        if tree.sha in self._known:
            return
        self._known.add(tree.sha)
        for node, results in possible_results(tree, registry=self.registry):
            known = self._nodes.setdefault(node.place, _Node(_name(node)))
            known.possible |= results

    def add(self, played: Played) -> None:
        """Add what a scenario has visited."""
        self.know(played.tree)
        visits, results = played.visits, played.all_outcomes
        for node in played.tree.nodes():
            known = self._nodes[node.place]
            known.is_visited |= visits[node.path] > 0
            known.had |= known.possible & set(results[node.path])

    def files(self) -> Iterator[FileCoverage]:
        """The files, by name."""
        by_file: dict[str, list[tuple[Place, _Node]]] = {}
        for place, node in self._nodes.items():
            by_file.setdefault(place.file, []).append((place, node))
        for file, nodes in sorted(by_file.items()):
            nodes.sort(key=lambda each: (each[0].line, each[0].column))
            yield FileCoverage(
                file=file,
                nodes=(sum(node.is_visited for _, node in nodes), len(nodes)),
                results=(sum(len(node.had) for _, node in nodes), sum(len(node.possible) for _, node in nodes)),
                gaps=tuple(gap for place, node in nodes for gap in _gaps(place, node)),
            )


def percent(part: int, whole: int) -> float:
    """A share in percent; of nothing, all."""
    return 100 * part / whole if whole else 100.0


def total(files: Iterable[FileCoverage]) -> float:
    """The share of all files, in percent."""
    pairs = [each.covered for each in files]
    return percent(sum(part for part, _ in pairs), sum(whole for _, whole in pairs))


def possible_results(
    tree: TreeDefinition, *, registry: Registry = REGISTRY
) -> Iterator[tuple[NodeDefinition, frozenset[str]]]:
    """Every node of a tree with the results that it can have, `HALTED` where something above can interrupt it."""
    live, known = build(tree, registry=registry), dict[int, Ends]()

    def results(node: Node[Any]) -> Ends:
        if node.index not in known:
            known[node.index] = _results(node, results)
        return known[node.index]

    haltable: set[int] = set()
    for node, definition in zip(live.nodes, tree.nodes(), strict=True):
        found = frozenset(status.name for status in results(node))
        yield definition, found | {_HALTED} if node.index in haltable and Status.RUNNING in results(node) else found
        guards = node.guards if isinstance(node, UnderGuards) else ()
        if node.index in haltable or guards or node.kind.name in _INTERRUPT:
            haltable.update(child.index for child in node.child_nodes if child not in guards)


def _results(node: Node[Any], results: Callable[[Node[Any]], Ends]) -> Ends:
    """What a node can return: as its kind says by its children; a leaf, by the cases that the checker knows."""
    below = frozenset[Status]().union(*map(results, node.child_nodes))
    running = frozenset({Status.RUNNING} if node.kind.waits or Status.RUNNING in below else ())
    if node.kind.name in _AS_CHILDREN:
        return below | {Status.SUCCESS} if node.kind.name == "if" and len(node.child_nodes) == 1 else below
    if node.child_nodes:
        return node.ends(lambda child: results(child) & ANY_END) | running
    if node.kind.name in _NO_ORDINARY_FAILURE:
        return frozenset({Status.SUCCESS})
    if not isinstance(node.kind.flow, LeafFlow):
        return ANY_END | running
    can_fault = not _MADE_TO_FAIL.isdisjoint(node.facts.roles)
    cases = [case for case in node.kind.flow.cases(node.settings) if can_fault or not case.fault]
    return running.union(_OF_CASES[case.result] for case in cases)


def _gaps(place: Place, node: _Node) -> Iterator[Gap]:
    if not node.is_visited:
        yield Gap(place, node.name, "was never visited")
        return
    for result in _WORDS:
        if result in node.possible - node.had:
            yield Gap(place, node.name, _WORDS[result])


def _name(node: NodeDefinition) -> str:
    if node.name is None and node.kind == "condition":
        return f"condition `{getattr(node.settings, 'when', '')}`"
    return short_name(node)
