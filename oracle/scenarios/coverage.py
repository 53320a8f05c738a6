"""What scenarios have visited of the trees: nodes, and the results that each node can have.

Each node counts once for being visited, which is a branch of its parent, and once for each result that it can have: a
condition must have been true and false, a turn must have ended, failed and been halted. Nodes of a file that is
included at several places are counted once. What a node can return follows from its kind and its children; a result
that the rest of the tree makes impossible is counted all the same.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bt_runtime import NodeDefinition, Registry, TreeDefinition
from bt_runtime.checking.effects import LeafFlow
from bt_runtime.kind import Kind
from bt_runtime.text import Place
from oracle.nodes import REGISTRY
from oracle.scenarios.nodes import short_name
from oracle.scenarios.played import Played

_S, _F, _R = "SUCCESS", "FAILURE", "RUNNING"
_WORDS: Final[Mapping[str, str]] = {
    _S: "never succeeded",
    _F: "never failed",
    _R: "was never running",
    "HALTED": "was never halted",
}
_INTERRUPT: Final = frozenset({"guarded", "parallel", "timeout"})
_NO_ORDINARY_FAILURE: Final = frozenset({"set"})
"""Leaves of which the checker says more than their results: they fail by an error in an expression alone."""
_MADE_TO_FAIL: Final = frozenset({"llm_turn", "action"})
"""Leaves whose failures from outside a scenario can script; of the others, only ordinary results count."""


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
        for node, results in possible_results(tree.root, registry=self.registry):
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
    root: NodeDefinition, *, registry: Registry = REGISTRY
) -> Iterator[tuple[NodeDefinition, frozenset[str]]]:
    """Every node with the results that it can have, `HALTED` where something above can interrupt it."""
    yield from _possible(root, registry, is_haltable=False)


def _possible(
    node: NodeDefinition, registry: Registry, *, is_haltable: bool
) -> Iterator[tuple[NodeDefinition, frozenset[str]]]:
    results = _results(node, registry)
    yield node, results | {"HALTED"} if is_haltable and _R in results else results
    for slot, children in node.children.items():
        interrupts = (node.kind == "loop" and "guards" in node.children) or node.kind in _INTERRUPT
        for child in children:
            yield from _possible(child, registry, is_haltable=(is_haltable or interrupts) and slot != "guards")


def _results(node: NodeDefinition, registry: Registry) -> frozenset[str]:
    """What a node can return."""
    by_slot = {
        slot: [_results(child, registry) for child in nodes]
        for slot, nodes in node.children.items()
        if slot != "guards"
    }
    below = [each for results in by_slot.values() for each in results]
    if node.kind in _OF_PARENTS and below:
        running = {_R} if any(_R in each for each in below) else set()
        return frozenset(_OF_PARENTS[node.kind](by_slot.get("child", below)) | running)
    return _of_leaf(node, registry.kind(node.kind), is_waiting=any(_R in each for each in below))


def _of_leaf(node: NodeDefinition, kind: Kind, *, is_waiting: bool) -> frozenset[str]:
    """What the checker knows of a leaf's kind; any result of one that it knows nothing of."""
    running = {_R} if is_waiting or kind.waits else set()
    if node.kind in _NO_ORDINARY_FAILURE:
        return frozenset({_S})
    if not isinstance(kind.flow, LeafFlow):
        return frozenset({_S, _F} | running)
    cases = [case for case in kind.flow.cases(node.settings) if not case.fault or node.kind in _MADE_TO_FAIL]
    return frozenset({_OF_CASES[case.result] for case in cases} | running)


def _of_sequence(below: Sequence[frozenset[str]]) -> set[str]:
    can_succeed = all(_S in each for each in below)
    return ({_S} if can_succeed else set()) | ({_F} if any(_F in each for each in below) else set())


def _of_selector(below: Sequence[frozenset[str]]) -> set[str]:
    can_succeed = any(_S in each for each in below)
    return ({_S} if can_succeed else set()) | ({_F} if all(_F in each for each in below) else set())


def _of_branches(below: Sequence[frozenset[str]]) -> set[str]:
    return {each for results in below for each in results}


_OF_CASES: Final = {"success": _S, "failure": _F, "waiting": _R}
_OF_PARENTS: Final[Mapping[str, Callable[[Sequence[frozenset[str]]], set[str]]]] = {
    "sequence": _of_sequence,
    "selector": _of_selector,
    "force_success": lambda _: {_S},
    "force_failure": lambda _: {_F},
    "inverter": lambda below: {{_S: _F, _F: _S}[each] for each in below[0] - {_R}},
    "subtree": _of_branches,
    "if": lambda below: _of_branches(below) | (set() if len(below) > 1 else {_S}),
    "once": _of_branches,
    "guarded": lambda below: {*below[0], _F},
    "finally": lambda below: set(below[0] - {_R}),
    "loop": lambda below: {_R, _S} | (below[0] & {_F}),
}


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
