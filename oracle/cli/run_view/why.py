"""Why a tick ended as it did: from the root to the node that decided, and what was asked on the way."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.cells import cell_len

from oracle.cli.run_view.choosing import decision_of
from oracle.cli.run_view.marks import Marks, children_of, symbol
from oracle.cli.run_view.source_text import SourceText
from oracle.cli.run_view.spans import Line, Span, line, safe, wrapped
from oracle.cli.run_view.tree_rows import path_of
from oracle.cli.run_view.values import Note, note_of, refusal
from oracle.histories import History
from oracle.histories.model import TickFacts, TreeFacts

_LONGEST_PLACE = 32


def why(history: History, tick: TickFacts, marks: Marks, width: int, *, before: Mapping[str, Any]) -> Iterator[Line]:
    """A line with file and line for each node on the way, with what it says and saw below.

    Nodes that were asked before the next one on the way, and let it come to that, are listed as well.
    """
    decision = decision_of(history, tick)
    if history.tree is None or decision is None:
        yield line(Span("The node that decided is not known.", "dim"))
        return
    tree, children, source = history.tree, children_of(history.tree), SourceText(history.tree)
    visits = {visit.node: visit for visit in tick.visits}
    steps = list(_steps(tree, children, path_of(tree, decision), set(visits)))
    places = [_place(tree, node) for node in steps]
    room = max(cell_len(place) for place in places)
    for node, place in zip(steps, places, strict=True):
        facts, visit = tree.nodes[node], visits.get(node)
        is_last = node == decision
        shown = source.of(facts, has_children=bool(children[node]))
        head = line(
            "▸ " if is_last else "  ",
            symbol(marks.get(node)),
            Span(f" {place}{' ' * (room - cell_len(place))}  ", "dim"),
            Span(shown, "strong" if is_last else "plain"),
        )
        yield head.fitted(width)
        if visit is None:
            continue
        said = Note("")
        if not children[node] or visit.decider is None:
            said = note_of(history, tick, visit, facts.kind, before=before)
        elif marks.get(node) == "failure":
            said = refusal(visits, node)
        indent = room + 6
        sentence = safe(visit.sentence)
        for part in wrapped(sentence, width - indent):
            yield line(" " * indent, part)
        if said.words not in ("", sentence) or (said.verdict and not sentence):
            parts = list(wrapped(said.words, width - indent - 12))
            for part in parts[:-1]:
                yield line(" " * indent, Span(part, "dim"))
            end = [Span(f" {said.verdict.text}", said.verdict.style)] if said.verdict else []
            yield line(" " * indent, Span(parts[-1] if parts else "", "dim"), *end).fitted(width)


def _steps(tree: TreeFacts, children: list[list[int]], path: list[int], asked: set[int]) -> Iterator[int]:
    """The nodes on the path, and those beside it that were asked before."""
    for position, node in enumerate(path):
        yield node
        following = path[position + 1] if position + 1 < len(path) else None
        if following is None or tree.nodes[node].category == "decorator":
            continue
        for child in children[node]:
            if child == following:
                break
            if child in asked:
                yield child


def _place(tree: TreeFacts, node: int) -> str:
    facts = tree.nodes[node]
    place = f"{safe(facts.file)}:{facts.line}"
    return place if len(place) <= _LONGEST_PLACE else f"…{place[1 - _LONGEST_PLACE :]}"
