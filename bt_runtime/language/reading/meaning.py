"""Checks of a whole tree, all of whose nodes are valid by themselves, and of what an included tree gives back."""

from collections.abc import Iterator, Mapping

from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.reading.header import Header
from bt_runtime.language.registry import Registry
from bt_runtime.text import Mistake, Place, brief, did_you_mean, listing
from bt_runtime.text.yaml_reader import Entry

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
            for below in (each for then in node.children.get("then", ()) for each in then.walk()):
                if registry.kind(below.kind).waits:
                    message = (
                        f"{below.kind!r} may take time, and a halt does not wait for what 'then' of 'on_halt' does"
                    )
                    yield Mistake(below.place, message, "only nodes that end at once can be run there", below.path)
    for rule in registry.rules if is_whole else ():
        yield from rule(root)


def _repeated(node: NodeDefinition, registry: Registry) -> Iterator[Mistake]:
    children = [child for slot in node.children.values() for child in slot]
    for position in reversed(range(len(children))):
        waiting = next((below for below in children[position].walk() if registry.kind(below.kind).waits), None)
        if waiting is None:
            continue
        for earlier in children[:position]:
            for acting in earlier.walk():
                if registry.kind(acting.kind).acts:
                    message = f"{acting.kind!r} would be run again at every tick while {waiting.path!r} is running"
                    hint = (
                        f"the {node.kind} on line {node.place.line} has 'memory: false': only conditions and guards "
                        "are allowed before work that takes time; remove it, or act elsewhere"
                    )
                    yield Mistake(acting.place, message, hint, acting.path)
        return


def output_mistakes(
    header: Header, outputs: Mapping[str, str], outer: Header, written: Mapping[str, Entry], place: Place
) -> Iterator[Mistake]:
    """Outputs that the tree does not have, or that do not fit their keys.

    Args:
        outer: the header of the tree that includes it.
        header: the header of the tree that is included.
        outputs: the names of the keys there, and here.
        written: the outputs as written, by their names.
        place: where the tree is included.
    """
    private = {name: key for name, key in header.keys.items() if key.private}
    for name, target in outputs.items():
        entry, source, into = written.get(name), private.get(name), outer.keys.get(target)
        if source is None:
            hint = did_you_mean(name, private) or f"private keys: {listing(private) or 'none'}"
            if name in header.keys:
                hint = "trees share the keys that are not private, so nothing has to be copied"
            message = f"the tree {brief(header.name)} has no private key {brief(name)}"
            yield Mistake(entry.place if entry else place, message, hint)
        elif (
            into is not None and into.type not in {"any", source.type} and (source.type, into.type) != ("int", "float")
        ):
            message = f"{name!r} is declared as {source.type}, but {target!r} as {into.type}"
            yield Mistake(entry.node.place if entry else place, message, "choose a key of the same type")
