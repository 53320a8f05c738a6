"""Checks of a whole tree, all of whose nodes are valid by themselves."""

from collections.abc import Iterator

from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.registry import Registry
from bt_runtime.text import Mistake

_REACTIVE_KINDS = frozenset({"sequence", "selector"})


def meaning_mistakes(root: NodeDefinition, *, registry: Registry, is_whole: bool = True) -> Iterator[Mistake]:
    """Mistakes of the tree as a whole: repeated actions, impossible `parallel`s, slow hooks, and the host's rules.

    With `memory: false` the children before the RUNNING one are ticked again at every tick. That is meant for
    conditions; an action would post its request again and again.

    Args:
        root: the topmost node.
        registry: the kinds, and the host's rules.
        is_whole: no node is missing; otherwise only mistakes are reported that missing nodes cannot cause.
    """
    for node in root.walk():
        if node.kind in _REACTIVE_KINDS and getattr(node.settings, "memory", True) is False:
            yield from _repeated(node, registry)
        if node.kind == "parallel" and is_whole:
            wanted, there = getattr(node.settings, "success", None), len(node.children.get("children", ()))
            if isinstance(wanted, int) and wanted > there > 0:
                message = f"{wanted} children must succeed, and there {'is' if there == 1 else 'are'} {there}"
                yield Mistake(node.place, message, f"write 'success: {there}' or 'success: all'", node.path)
        if node.kind == "on_halt":
            yield from _late_hooks(node, registry)
    for rule in registry.rules if is_whole else ():
        yield from rule(root)


def _late_hooks(node: NodeDefinition, registry: Registry) -> Iterator[Mistake]:
    for below in (each for then in node.children.get("then", ()) for each in then.walk()):
        if registry.kind(below.kind).waits:
            message = f"{below.kind!r} may take time, and a halt does not wait for what 'then' of 'on_halt' does"
            yield Mistake(below.place, message, "only nodes that end at once can be run there", below.path)


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
        f"the {node.kind} on line {node.place.line} has 'memory: false': only conditions and guards are allowed before "
        "work that takes time; remove it, or act elsewhere"
    )
    return Mistake(acting.place, message, hint, acting.path)
