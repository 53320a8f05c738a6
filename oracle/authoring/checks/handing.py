"""Judges what is left for a later turn of the model: a granted turn, a note, further tools."""

from collections.abc import Iterator, Mapping

from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.conditions import names_in
from bt_runtime.analysis.flow import Flow, warning
from bt_runtime.analysis.states import REASON
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.kind import HERE, ExpressionUse, LeafFlow
from bt_runtime.text import Mistake
from oracle.agent.nodes.roles import ASKS_MODEL

CODES = (Code("no-turn-follows", "A turn is granted, or something left for the next one, and none follows."),)
_FACTS = ("granted", "noted", "offered")
_SAID: Mapping[str, tuple[str, str]] = {
    "granted": ("no turn of the model follows on this", "put it into a loop with an 'llm_turn', or remove it"),
    "noted": (
        "no turn gets this note: none follows, or another note replaces it before",
        "write it before an 'llm_turn', or remove it",
    ),
    "offered": (
        "no turn that may call tools follows on this",
        "put it before an 'llm_turn' with tools, or remove it",
    ),
}


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    if not flow.is_whole or any(node.has(ASKS_MODEL) and not flow.is_reached(node) for node in flow.nodes):
        return  # a turn that is never reached is said, and explains it
    taken = _taken(flow)
    if taken is None:
        return
    for node in flow.nodes:
        fact = _left(flow, node)
        if (
            fact is not None
            and "success" in flow.results(node)
            and any(flow.domain(state, REASON).can_be_false for state in flow.states(node))
            and node.path not in taken[fact]
        ):
            message, hint = _SAID[fact]
            yield warning(flow, node, "no-turn-follows", message, hint)


def _taken(flow: Flow) -> Mapping[str, set[str]] | None:
    """The nodes that have left something for a turn, by the fact that says so; `None` if they are not known."""
    found: dict[str, set[str]] = {fact: set() for fact in _FACTS}
    takers = [node for node in flow.all_nodes.values() if node.has(ASKS_MODEL) or _reads_note(node)]
    for node in takers:
        facts = _FACTS if getattr(node.settings, "tools", True) else _FACTS[:2]
        for state in flow.states(node):
            if not found.keys() <= state.facts.keys():
                return None
            for fact in facts:
                found[fact] |= state.facts[fact]
    return found


def _left(flow: Flow, node: NodeDefinition) -> str | None:
    """The fact that says what a node leaves for a turn; `None` for other nodes."""
    of_kind = flow.registry.kinds[node.kind].flow
    cases = of_kind.cases(node.settings) if isinstance(of_kind, LeafFlow) else ()
    left = {fact for case in cases for fact, value in case.facts.items() if value == HERE}
    if left:
        return next((fact for fact in _FACTS if fact in left), None)
    note = getattr(node.settings, "values", {}).get("hint") if node.kind == "set" else None
    return "noted" if note not in (None, "''", '""') and "hint" not in node.private else None


def _reads_note(node: NodeDefinition) -> bool:
    texts = [placed.use.text for placed in node.uses if isinstance(placed.use, ExpressionUse)]
    return any("hint" in names_in(text) for text in texts)
