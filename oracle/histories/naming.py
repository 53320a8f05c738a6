"""What nodes are called, and plain sentences for those whose kinds have no words."""

from collections.abc import Iterable

from bt_runtime.text.phrases import clipped, listed
from oracle.histories.model import History, NodeFacts, StatusName, VisitFacts

_SAYS: dict[StatusName, str] = {
    "SUCCESS": "said yes",
    "FAILURE": "said no",
    "RUNNING": "is running",
    "INVALID": "was halted",
}

_BEGINNINGS = frozenset({"A", "All", "An", "It", "More", "No", "Nobody", "One", "Open", "The", "There"})


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


def title_at(history: History, path: str) -> str:
    """A node by its path."""
    nodes = history.tree.nodes if history.tree else ()
    found = next((node.index for node in nodes if node.path == path), None)
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
