"""Why a tick ended as it did: from the root to the node that decided, a sentence and the place of each."""

from collections.abc import Iterator
from dataclasses import replace

from rich.cells import cell_len

from oracle.cli.run_view.choosing import decision_of
from oracle.cli.run_view.marks import Marks, children_of, symbol
from oracle.cli.run_view.source_text import SourceText
from oracle.cli.run_view.spans import Line, Span, line, safe, wrapped
from oracle.histories import History, why
from oracle.histories.model import TickFacts, TreeFacts

_LONGEST_PLACE = 32


def way(history: History, tick: TickFacts, marks: Marks, width: int) -> Iterator[Line]:
    """A line with file and line for each node on the way, and below it what it says."""
    tree, decision = history.tree, decision_of(history, tick)
    reasons = why(history, replace(tick, decision=decision)) if tree is not None else ()
    if tree is None or not reasons:
        is_deleted = history.run.kept != "whole" and not tick.visits
        because = " The texts of the run were deleted, so its ticks have no reasons." if is_deleted else ""
        yield line(Span(f"The node that decided is not known.{because}", "dim"))
        return
    children, source = children_of(tree), SourceText(tree)
    places = [_place(tree, reason.node) for reason in reasons]
    room = max(cell_len(place) for place in places)
    for reason, place in zip(reasons, places, strict=True):
        is_last = reason.node == decision
        shown = source.of(tree.nodes[reason.node], has_children=bool(children[reason.node]))
        head = line(
            "▸ " if is_last else "  ",
            symbol(marks.get(reason.node)),
            Span(f" {place}{' ' * (room - cell_len(place))}  ", "dim"),
            Span(shown, "strong" if is_last else "plain"),
        )
        yield head.fitted(width)
        indent = room + 6
        for part in wrapped(safe(reason.sentence), width - indent):
            yield line(" " * indent, Span(part, "plain" if is_last else "dim"))


def _place(tree: TreeFacts, node: int) -> str:
    facts = tree.nodes[node]
    place = f"{safe(facts.file)}:{facts.line}"
    return place if cell_len(place) <= _LONGEST_PLACE else f"…{place[1 - _LONGEST_PLACE // 2 :]}"
