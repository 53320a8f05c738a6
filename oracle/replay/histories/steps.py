"""Why a tick went as it did: the steps from the root to the node that decided, each a sentence and a place.

A node that only passes on what another one says (a sequence without a name) has no step of its own: what was asked in
it belongs to the step of the last node before it that people have a name for. Branches that said no on the way share
one step; a node that raised has its own.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import zip_longest

from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import seconds, truncated
from oracle.replay.histories.model import (
    ClauseFacts,
    EvaluationFacts,
    NodeFacts,
    PieceFacts,
    StatusName,
    StepFacts,
    TickFacts,
    TurnFacts,
    VisitFacts,
)
from oracle.replay.histories.naming import VisitTree, lowered

_MOST_LISTED = 3
_MOST_GUARDS = 2
_MOST_REASONS = 2
_LONGEST_REASON = 40  # characters
_LONGEST_CLAUSE = 60  # characters
_SAYS: Mapping[StatusName, str] = {
    "SUCCESS": "yes",
    "FAILURE": "no",
    "RUNNING": "it is at work",
    "INVALID": "it was halted",
}

_Pieces = list[PieceFacts]


def steps_of(
    nodes: Sequence[NodeFacts], tick: TickFacts, decision: int | None, turns: Iterable[TurnFacts]
) -> tuple[StepFacts, ...]:
    """The steps of a tick; empty if no node decided it, or its reasons are not known.

    Args:
        nodes: the nodes of the tree, each at its index.
        tick: the tick, with the visits of its nodes.
        decision: the node that they lead to.
        turns: of the model, those that ended in this tick among them.
    """
    if decision is None or not tick.visits:
        return ()
    ended = {turn.node: turn for turn in turns if turn.ended_tick == tick.tick and turn.node is not None}
    return tuple(_Steps(nodes, tick, ended).to(decision))


@dataclass(slots=True)
class _Owner:
    """What is said of a node on the way, gathered until the next node with a name.

    Args:
        guards: that hold: how much of the limit is used, and what the guard says.
        held: the clauses that were true.
        first_held: the node of the first of them.
    """

    visit: VisitFacts
    guards: list[tuple[float, str]] = field(default_factory=list)
    held: list[PieceFacts] = field(default_factory=list)
    first_held: int | None = None


class _Steps:
    def __init__(self, nodes: Sequence[NodeFacts], tick: TickFacts, ended: Mapping[int, TurnFacts]) -> None:
        self._nodes = nodes
        self._ended = ended
        self._visits = VisitTree(nodes, tick.visits)
        self._steps: list[StepFacts] = []
        self._raised: set[int] = set()  # errors that have a step
        self._said: set[str] = set()  # clauses that an earlier step has named

    def to(self, decision: int) -> list[StepFacts]:
        path = self._visits.to(decision)
        if not path or path[0].parent is not None:
            return []
        owner: _Owner | None = None
        for visit, child in zip_longest(path, path[1:]):
            if owner is None or child is None or self._is_named(visit.node):
                if owner is not None:
                    self._close(owner, None if child is None else visit.node)
                owner = _Owner(visit)
            if child is None:
                self._decide(visit)
            else:
                self._read_before(owner, child)
        self._errors_elsewhere()
        return self._steps

    def _read_before(self, owner: _Owner, child: VisitFacts) -> None:
        """Take what was asked before the child that the way goes on with."""
        later: list[tuple[VisitFacts, VisitFacts | None]] = []  # ended turns, and branches with what raised in them
        no: list[VisitFacts] = []
        for each in self._visits.before(child):
            node, fault = self._node(each.node), self._fault_below(each)
            if node is not None and node.category == "guard":
                # How much of its limit the guard has found used.
                share = max((figure.value / figure.limit for figure in each.figures if figure.limit), default=0)
                owner.guards += [(share, each.text)] if share > 0 else []
            elif each.node in self._ended or fault is not None:
                later.append((each, None if each.node in self._ended else fault))
            elif each.status == "FAILURE":
                no.append(each)
            elif each.status == "SUCCESS":
                self._take_condition(owner, each)
        if later or no:
            self._close(owner, None)
        for each, fault in later:
            if fault is None:
                self._turn_ended(each, self._ended[each.node])
            else:
                self._error_step(fault, each)
        if no:
            self._said_no(no)

    def _take_condition(self, owner: _Owner, visit: VisitFacts) -> None:
        condition = self._visits.condition_of(visit)
        if condition is not None:
            owner.held += _true_clauses(condition)
            owner.first_held = self._visits.deepest(visit).node if owner.first_held is None else owner.first_held

    def _close(self, owner: _Owner, following: int | None) -> None:
        """Make the step of a node on the way, if it has something to say; what it said is not said twice."""
        title = _name(self._title(owner.visit.node))
        if owner.guards:
            goes_on = " goes on: no guard trips. " if owner.visit.status == "RUNNING" else ": no guard trips. "
            nearest = sorted(owner.guards, key=lambda guard: -guard[0])[:_MOST_GUARDS]
            listed = [guard[1] for guard in owner.guards if guard in nearest]
            self._push(owner.visit.node, [title, _words(f"{goes_on}{', '.join(listed)}.")])
        if owner.held:
            fresh = [clause for clause in owner.held if clause.text not in self._said]
            shown = (fresh or owner.held)[: _MOST_LISTED + 1]
            self._said.update(clause.text for clause in owner.held)
            ending = " is true" if len(shown) == 1 else " are true"
            asked = [_words(".")]
            if following is not None:
                asked = [_words(", so "), _name(self._title(following)), _words(" is asked.")]
            pieces = [title, _words(": "), *_joined(shown), _words(ending), *asked]
            self._push(owner.visit.node if owner.first_held is None else owner.first_held, pieces)
        owner.guards, owner.held, owner.first_held = [], [], None

    def _decide(self, visit: VisitFacts) -> None:
        self._raised.add(visit.node)
        said = _error_sentence(visit) if visit.errors else _lowered(_sentence(visit))
        self._push(visit.node, [_name(self._title(visit.node)), _words(" decided: "), _words(said)], decides=True)

    def _turn_ended(self, visit: VisitFacts, turn: TurnFacts) -> None:
        sentence = _lowered(_sentence(visit)).removesuffix(".")
        took = ": " if turn.ended_s is None else f" ended after {seconds(turn.ended_s - turn.began_s)}: "
        sure = None if turn.signal is None else turn.signal.confidence
        said = f"{sentence}." if sure is None else f"{sentence}, {sure:.15g} sure."
        self._push(visit.node, [_name(self._title(visit.node)), _words(took), _words(said)])

    def _said_no(self, no: Sequence[VisitFacts]) -> None:
        listed = no[:_MOST_LISTED]
        titles = [_name(self._title(visit.node)) for visit in listed]
        if len(no) > len(listed):
            titles.append(_words(f"{len(no) - len(listed)} more"))
        reasons: list[str] = []
        if len(no) <= _MOST_REASONS:
            found = [self._visits.deepest(visit).text.removesuffix(" → no").removeprefix("no: ") for visit in listed]
            reasons = [text for text in dict.fromkeys(found) if text and len(text) <= _LONGEST_REASON]
        pieces = [*_joined(titles), _words(" says no" if len(no) == 1 else " say no")]
        if reasons:
            pieces += [_words(": "), *_joined([_code(text) for text in reasons])]
        self._push(no[0].node, [*pieces, _words(".")])

    def _error_step(self, visit: VisitFacts, branch: VisitFacts) -> None:
        self._raised.add(visit.node)
        expression = next((each for each in visit.evaluations if each.error), None)
        pieces = [_name(self._title(self._name_above(visit.node))), _words(": ")]
        if expression is not None:
            pieces += [_code(_clipped(expression.text)), _words(" failed. ")]
        said = _error_sentence(visit) if expression is None else f"{expression.error.removesuffix('.')}."
        self._push(visit.node, [*pieces, _words(said)])
        if branch.node != visit.node or branch.status == "FAILURE":
            left = " was left because of it, not by its conditions."
            title = _name(self._title(branch.node))
            self._push(branch.node, [_words("An error counts as “no”: "), title, _words(left)])

    def _errors_elsewhere(self) -> None:
        """Add the errors of nodes that are neither on the way nor before it."""
        for visit in self._visits.by_node.values():
            if visit.errors and visit.node not in self._raised:
                self._push(visit.node, [_name(self._title(visit.node)), _words(f": {_error_sentence(visit)}")])

    def _push(self, node: int, pieces: Sequence[PieceFacts], *, decides: bool = False) -> None:
        self._steps.append(StepFacts(node, tuple(pieces), decides))

    def _node(self, index: int) -> NodeFacts | None:
        return self._nodes[index] if 0 <= index < len(self._nodes) else None

    def _title(self, index: int) -> str:
        node = self._node(index)
        return "a node" if node is None else node.title or node.name or node.kind

    def _is_named(self, index: int) -> bool:
        node = self._node(index)
        if node is None:
            return False
        return bool(node.name) or node.kind == "subtree" or node.category not in ("composite", "decorator")

    def _name_above(self, index: int) -> int:
        """The nearest node with a name of its own, from a node upwards."""
        at: int | None = index
        while at is not None and (node := self._node(at)) is not None:
            if node.name:
                return at
            at = node.parent
        return index

    def _fault_below(self, visit: VisitFacts) -> VisitFacts | None:
        """The first visit that raised, among a visit and those below it."""
        seen: set[int] = set()
        waiting = [visit]
        while waiting:
            each = waiting.pop()
            if each.errors:
                return each
            if each.node not in seen:
                seen.add(each.node)
                waiting += reversed(self._visits.below(each))
        return None


def _words(text: str) -> PieceFacts:
    return PieceFacts("words", text)


def _name(text: str) -> PieceFacts:
    return PieceFacts("name", text)


def _code(text: str) -> PieceFacts:
    return PieceFacts("code", text)


def _joined(parts: Sequence[PieceFacts]) -> _Pieces:
    found: _Pieces = []
    for at, part in enumerate(parts):
        if at:
            found.append(_words(" and " if at == len(parts) - 1 else ", "))
        found.append(part)
    return found


def _true_clauses(evaluation: EvaluationFacts) -> _Pieces:
    """The clauses that made a condition true, as they stand in the file; all of it if they are not known."""
    spans = [
        evaluation.text[clause.start : clause.end]
        for clause in innermost(evaluation)
        if clause.asked and bool(clause.value)
    ]
    return [_code(_clipped(text)) for text in spans or [evaluation.text]]


def innermost(evaluation: EvaluationFacts) -> list[ClauseFacts]:
    """The clauses of an expression that have no smaller ones in them."""
    clauses = evaluation.clauses
    return [
        one
        for one in clauses
        if not any(
            other.start >= one.start and other.end <= one.end and other.end - other.start < one.end - one.start
            for other in clauses
        )
    ]


def _clipped(text: str) -> str:
    return truncated(re.sub(r"\s+", " ", text), _LONGEST_CLAUSE)


def _error_sentence(visit: VisitFacts) -> str:
    return f"it raised an error, which counts as no: {visit.errors[-1].removesuffix('.')}."


def _sentence(visit: VisitFacts) -> str:
    if visit.sentence:
        return visit.sentence
    return f"{_SAYS[visit.status]}, {visit.text}." if visit.text else f"{_SAYS[visit.status]}."


def _lowered(sentence: str) -> str:
    """The sentence as it goes on after a colon."""
    return f"turn {sentence[5:]}" if sentence.startswith("Turn ") else lowered(sentence)
