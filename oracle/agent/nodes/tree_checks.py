"""Checks of a whole agent's tree: mistakes that are certain before it runs, although each node is valid.

What is not certain is handled at run time (`oracle.agent.control.floor`).
"""

from collections.abc import Callable, Collection, Iterator, Sequence

from bt_runtime import Mistake, NodeDefinition
from bt_runtime.language.kind import NOTIFIES
from bt_runtime.text import brief, did_you_mean, listing
from oracle.agent.nodes.roles import (
    ASKS_MODEL,
    CLASSIFIES_QUERY,
    COMPOSES_PROMPT,
    GRANTS_TURN,
    RUNS_CALLS,
    SPEAKS,
    WARNS_NEAR_LIMITS,
)

_UNCERTAIN = frozenset({"if", "switch", "once", "cooldown", "for_each"})
"""Kinds that may end, or begin with another child, without a tick of their first child."""

_AT_ONCE = (CLASSIFIES_QUERY, COMPOSES_PROMPT, WARNS_NEAR_LIMITS, NOTIFIES, SPEAKS, GRANTS_TURN)
"""Roles of kinds that have ended by the time the next node of a sequence is ticked, and usually with SUCCESS."""


def tools_that_run_twice(root: NodeDefinition) -> Iterator[Mistake]:
    """`run_tools` after `run_tools`, and no turn between them that could have called anything."""
    for node in root.walk():
        if node.kind == "sequence":
            yield from _repeated(node.children["children"])


def _repeated(children: tuple[NodeDefinition, ...]) -> Iterator[Mistake]:
    before: NodeDefinition | None = None
    for child in children:
        if child.has(RUNS_CALLS):
            if before is not None:
                message = f"the tools have already been run, on line {before.place.line}"
                yield Mistake(child.place, message, "remove it, or put an llm_turn between them", child.path)
            before = child
        elif any(below.has(ASKS_MODEL) for below in child.walk()):
            before = None


def voices_at_once(root: NodeDefinition) -> Iterator[Mistake]:
    """Visible turns that a `parallel` would begin side by side."""
    for node in root.walk():
        if node.kind != "parallel" or getattr(node.settings, "max_concurrent", None) == 1:
            continue
        speaking = [turn for child in node.children["children"] if (turn := _first_words(child)) is not None]
        for turn in speaking[1:]:
            message = f"this turn and the one on line {speaking[0].place.line} would write the answer at the same time"
            hint = "put them into a sequence, or write 'visible: false' at the one that is not the answer"
            yield Mistake(turn.place, message, hint, turn.path)


def _first_words(node: NodeDefinition) -> NodeDefinition | None:
    """The visible turn that a node is sure to begin with; `None` if that is not certain."""
    if node.has(ASKS_MODEL):
        return node if getattr(node.settings, "visible", True) else None
    if node.kind in _UNCERTAIN:
        return None
    guards = node.children.get("guards", ())
    children = [child for slot, nodes in node.children.items() if slot != "guards" for child in nodes]
    if node.kind == "sequence":
        children = [child for child in children if child.kind != "set" and not child.has(*_AT_ONCE)]
    return (
        _first_words(children[0]) if children and not guards and getattr(node.settings, "until", None) is None else None
    )


def names_of_turns(
    *, models: Sequence[str], segments: Callable[[], Collection[str] | None]
) -> Callable[[NodeDefinition], Iterator[Mistake]]:
    """A check of the models and prompts that the turns of a tree name.

    Args:
        models: those that the operator allows; empty: any.
        segments: the ids of the prompts' segments, asked for once a turn names one; `None`: they cannot be known.
    """

    def check(root: NodeDefinition) -> Iterator[Mistake]:
        for node in root.walk():
            model, prompt = (getattr(node.settings, name, None) for name in ("model", "prompt"))
            if not node.has(ASKS_MODEL) or model is prompt is None:
                continue
            if models and model is not None and model not in models:
                message = f"the model {brief(model)} may not be used"
                hint = did_you_mean(model, models) or f"the operator allows {listing(models)} (ORACLE_MODELS)"
                yield Mistake(node.place, message, hint, node.path, "wrong-value")
            known = segments() if prompt is not None else None
            if known is not None and prompt not in known:
                message = f"there is no segment {brief(prompt)} among the prompts"
                hint = did_you_mean(prompt, known) or f"segments: {listing(known)}"
                yield Mistake(node.place, message, hint, node.path, "wrong-value")

    return check


TREE_CHECKS = (tools_that_run_twice, voices_at_once)
