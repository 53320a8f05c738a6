"""Words of a history: what nodes are called and say, and which led to another; values; what was done from outside."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from bt_runtime.text.phrases import clipped, joined, listed, truncated, value_of
from oracle.replay.histories.model import (
    DebugFacts,
    EvaluationFacts,
    History,
    NodeFacts,
    SeamFacts,
    StatusName,
    TickFacts,
    VisitFacts,
)

_SAYS: dict[StatusName, str] = {
    "SUCCESS": "said yes",
    "FAILURE": "said no",
    "RUNNING": "is running",
    "INVALID": "was halted",
}

_HOW: Final[Mapping[str, str]] = {
    "continued": "went on after what was said",
    "repeated": "began anew",
    "kept": "kept its result",
    "unknown": "may have been carried out",
    "not_run": "was not run",
}
_DECIMALS: Final = 3
OMITTED: Final = "…"
"""Stands for a text that was left out of an export. An empty text stays empty: conditions ask for that."""
_BEGINNINGS = frozenset({"A", "All", "An", "It", "More", "No", "Nobody", "One", "Open", "The", "There"})
_MOST_OPERANDS = 3


def node_of(history: History, index: int | None) -> NodeFacts | None:
    """A node of the tree; `None` if it is not known."""
    nodes = history.tree.nodes if history.tree else ()
    return nodes[index] if index is not None and 0 <= index < len(nodes) else None


def title_of(history: History, index: int | None) -> str:
    """What people call a node: its name, else the tree that it includes, else its kind."""
    node = node_of(history, index)
    return clipped(node.title or node.name or node.kind) if node else "a node"


def titles_of(history: History, indices: Iterable[int]) -> str:
    """Several nodes: `llm_turn and wait`."""
    return listed([title_of(history, index) for index in indices])


def index_at(history: History, path: str) -> int | None:
    """The index of a node by its path; `None` if it is not known."""
    nodes = history.tree.nodes if history.tree else ()
    return next((node.index for node in nodes if node.path == path), None)


def title_at(history: History, path: str) -> str:
    """A node by its path."""
    found = index_at(history, path)
    return clipped(path) if found is None else title_of(history, found)


def sentence_of(history: History, visit: VisitFacts) -> str:
    """What the kind says, else a plain sentence from the status; an exception comes first."""
    if visit.errors:
        return f"It raised an error, which counts as no: {clipped(visit.errors[-1], 200).rstrip('.')}."
    if visit.sentence:
        return visit.sentence
    text = f": {visit.text}" if visit.text else ""
    return f"{title_of(history, visit.node)} {_SAYS[visit.status]}{text}."


def lowered(sentence: str) -> str:
    """A sentence as it goes on after a comma or a colon; a name at its beginning stays as it is."""
    first, _, rest = sentence.partition(" ")
    return f"{first.lower()} {rest}" if first in _BEGINNINGS else sentence


def statuses_after(ticks: Iterable[TickFacts]) -> dict[int, StatusName]:
    """The status of each node that has one, by index, after these ticks."""
    statuses: dict[int, StatusName] = {}
    for tick in ticks:
        statuses.update(tick.changes)
    return statuses


def running_leaves(history: History) -> tuple[int, ...]:
    """The nodes that had work under way, or waited, when the last tick before the end was over."""
    if history.tree is None:
        return ()
    parents = {node.parent for node in history.tree.nodes}
    statuses = statuses_after(own_ticks(history))
    return tuple(index for index, status in sorted(statuses.items()) if status == "RUNNING" and index not in parents)


def own_ticks(history: History) -> tuple[TickFacts, ...]:
    """The ticks in which the root was asked: all but the record of the end."""
    return tuple(tick for tick in history.ticks if tick.cause != "end")


class VisitTree:
    """The visits of one tick, by their nodes.

    Args:
        nodes: of the tree that ran, by index.
        visits: of the tick; of several of one node the last one counts.
    """

    def __init__(self, nodes: Sequence[NodeFacts], visits: Iterable[VisitFacts]) -> None:
        self._nodes = nodes
        self.by_node = {visit.node: visit for visit in visits}
        self._below: dict[int | None, list[VisitFacts]] = {}
        for visit in self.by_node.values():
            self._below.setdefault(visit.parent, []).append(visit)

    def to(self, node: int | None) -> tuple[VisitFacts, ...]:
        """The visits from the root to a node; empty if it was not ticked."""
        found: list[VisitFacts] = []
        while node is not None and node in self.by_node and len(found) < len(self.by_node):
            found.append(self.by_node[node])
            node = self.by_node[node].parent
        return tuple(reversed(found))

    def below(self, visit: VisitFacts) -> Sequence[VisitFacts]:
        """The children that were asked, in order."""
        return self._below.get(visit.node, [])

    def before(self, child: VisitFacts) -> Sequence[VisitFacts]:
        """The siblings that were asked before a node."""
        siblings = self._below.get(child.parent, [])
        return siblings[: next((at for at, visit in enumerate(siblings) if visit is child), 0)]

    def because(self, path: Sequence[VisitFacts]) -> str:
        """What the last condition before the end of a path has read: `strategies is 0 and turn_left is true`."""
        for child in reversed(path[1:]):
            for visit in reversed(self.before(child)):
                evaluation = self.condition_of(visit)
                if evaluation is not None and evaluation.operands:
                    operands = evaluation.operands[:_MOST_OPERANDS]
                    return joined(f"{each.name} is {value_of(each.value)}" for each in operands)
        return ""

    def condition_of(self, visit: VisitFacts) -> EvaluationFacts | None:
        """The condition that decided a visit: its own, or that of the child that decided it."""
        last = self.deepest(visit)
        is_condition = last.node < len(self._nodes) and self._nodes[last.node].category == "condition"
        return last.evaluations[-1] if is_condition and last.evaluations else None

    def deepest(self, visit: VisitFacts) -> VisitFacts:
        """The visit itself, or that of the child that decided it, and so on."""
        seen = {visit.node}
        while visit.decider in self.by_node and visit.decider not in seen:
            visit = self.by_node[visit.decider]
            seen.add(visit.node)
        return visit


def visit_tree(history: History, tick: TickFacts) -> VisitTree:
    """The visits of a tick of a history."""
    return VisitTree(history.tree.nodes if history.tree else (), tick.visits)


def with_because(sentence: str, reason: str) -> str:
    """The sentence as a consequence, as in `Because signal is "stuck", the query stops as stuck`."""
    return f"Because {reason}, {lowered(sentence)}" if reason and sentence else sentence


def children_of(nodes: Sequence[NodeFacts]) -> list[list[int]]:
    """The children of each node, in the order of the file."""
    children: list[list[int]] = [[] for _ in nodes]
    for node in nodes:
        if node.parent is not None and 0 <= node.parent < len(children):
            children[node.parent].append(node.index)
    return children


def shown_value(value: Any, longest: int) -> str:  # noqa: ANN401  of a blackboard key
    """A value as people read it: numbers with separators, all else as JSON; cut off with an ellipsis.

    Args:
        value: a value as JSON has it.
        longest: how many characters the text may have.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = f"{value:,.{_DECIMALS}f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"
    elif value == OMITTED:
        text = OMITTED
    else:
        cut = value[: longest + 1] if isinstance(value, str) else value
        text = json.dumps(cut, ensure_ascii=False, separators=(",", ":"), default=str)
    return truncated(text, longest)


def seam_words(history: History, seam: SeamFacts) -> str:
    """How another worker has gone on, as a phrase: `another worker went on after 2.1 s; llm_turn began anew`."""
    if seam.is_woken:
        return f"woken after {seam.pause_s:,.1f} s"
    works = [
        f"{clipped(each.name) if each.what == 'tool' else title_at(history, each.name)} {_HOW.get(each.how, each.how)}"
        for each in seam.under_way
    ]
    again = f", attempt {seam.attempt}" if seam.attempt > 1 else ""
    return f"another worker went on after {seam.pause_s:,.1f} s{again}{'; ' if works else ''}{listed(works)}"


def debug_words(history: History, done: DebugFacts) -> str:
    """What was done, as a phrase: `hint set to "Be brief." by olga`."""
    by = f" by {clipped(done.by)}" if done.by else ""
    match done.what:
        case "pausing":
            return f"a pause was asked for{by}"
        case "paused":
            word = "before" if done.why == "node" else "at"
            where = f" {word} {title_at(history, done.path)}" if done.path else ""
            return f"paused by a breakpoint{where}" if done.why else f"paused{by}"
        case "stepped":
            return f"stepped{by}"
        case "set":
            return f"{clipped(done.key or 'a value')} set to {value_of(done.value)}{by}"
        case "forced":
            return f"{title_at(history, done.path or '')} forced to {clipped(done.result or 'a result')}{by}"
        case "resumed":
            why = {"lease": ", because no operator was there", "cancel": ", because the run was cancelled"}
            why |= {"stopping": ", because the service was stopping", "limit": ", because it was held for an hour"}
            return f"resumed after {done.paused_s or 0:,.1f} s{by}{why.get(done.why or '', '')}"
