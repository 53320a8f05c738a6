"""What a tree must not mean, although each of its nodes is right: looked at with all subtrees in place."""

from collections.abc import Iterator

from bt_runtime.definition import NodeDefinition
from bt_runtime.registry import Registry
from bt_runtime.text import Mistake

_REACTIVE_KINDS = frozenset({"sequence", "selector"})


def meaning_mistakes(root: NodeDefinition, *, registry: Registry, is_whole: bool = True) -> Iterator[Mistake]:
    """Every action that a reactive composite would repeat, every `parallel` that cannot succeed, and the host's rules.

    With `memory: false` the children left of the one that is RUNNING are ticked again at every tick. A condition there
    is the point of it; an action would post its request again and again.

    Args:
        root: of the tree.
        registry: its kinds, and the host's rules.
        is_whole: no node is missing; else only that is told which the others have no part in.
    """
    for node in root.walk():
        if node.kind in _REACTIVE_KINDS and getattr(node.settings, "memory", True) is False:
            yield from _repeated(node, registry)
        if node.kind == "parallel" and is_whole:
            yield from _out_of_reach(node)
    for rule in registry.rules if is_whole else ():
        yield from rule(root)


def _out_of_reach(node: NodeDefinition) -> Iterator[Mistake]:
    wanted, there = getattr(node.settings, "success", None), len(node.children.get("children", ()))
    if isinstance(wanted, int) and wanted > there > 0:
        message = f"{wanted} children must succeed, and there {'is' if there == 1 else 'are'} {there}"
        yield Mistake(node.place, message, f"write 'success: {there}' or 'success: all'", node.path)


def _repeated(node: NodeDefinition, registry: Registry) -> Iterator[Mistake]:
    children = [child for slot in node.children.values() for child in slot]
    for position in reversed(range(len(children))):
        waiting = next((below for below in children[position].walk() if registry.kind(below.kind).waits), None)
        if waiting is None:
            continue
        for earlier in children[:position]:
            for acting in earlier.walk():
                if registry.kind(acting.kind).acts:
                    yield _mistake(node, acting, waiting)
        return


def _mistake(node: NodeDefinition, acting: NodeDefinition, waiting: NodeDefinition) -> Mistake:
    message = f"{acting.kind!r} would be run again at every tick while {waiting.path!r} is running"
    hint = (
        f"the {node.kind} on line {node.place.line} has 'memory: false': only conditions and guards can stand before "
        "what takes time; remove it, or act in another place"
    )
    return Mistake(acting.place, message, hint, acting.path)
