"""Checks blackboard keys and parameters: writes, reads and declarations without effect."""

from collections.abc import Iterator

from bt_runtime.analysis.accesses import (
    Access,
    Accesses,
    accesses,
    expressions,
    is_unset,
    may_change,
    names_of,
    own_keys,
    warning_at,
    writes_of,
)
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.expressions.domains import of_value
from bt_runtime.analysis.flow import Flow
from bt_runtime.analysis.states import REASON, names_in
from bt_runtime.language.definition import Declaration, NodeDefinition
from bt_runtime.language.kind import DeliveryUse, Key, Kind, LeafFlow
from bt_runtime.text import Mistake, Place, brief

CODES = (
    Code(
        "key-unused",
        "The declared key is neither read nor written.",
        "Remove the declaration.",
    ),
    Code(
        "key-never-read",
        "A key is written, but nothing reads the value before it is overwritten or the run ends.",
        "Use the value, collect it (`hits: hits + hit`), or remove the work for it.",
    ),
    Code(
        "answer-ignored",
        "The tree waits for a yes or no, but never tests it.",
        "`wait` succeeds with either value, so a refusal counts as approval. Add a `condition` after the `wait`.",
    ),
    Code(
        "key-never-written",
        "A key is read, but nothing writes it.",
        "It always has its default. Write it first, or use the constant.",
    ),
    Code(
        "key-read-early",
        "A key is read before anything can have written it.",
        "It still has its default. Move the write before the read.",
    ),
    Code(
        "until-never-changes",
        "Nothing inside the loop changes the keys of its `until`.",
        "Only a guard ends the loop. Write the key in the loop's child.",
    ),
    Code(
        "default-lost",
        "A subtree declares the same key with another default, which has no effect.",
        "The first declaration counts. Mark the subtree's key as `private: true`, or use one default.",
    ),
    Code(
        "parameter-unused",
        "The parameter is never used.",
        "Trees that pass it expect an effect. Use it, or remove it.",
    ),
)


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    found = accesses(flow)
    for declared in own_keys(flow):
        if flow.is_whole or declared.key.private:
            yield from _of_key(flow, declared, found)
        else:
            # A key of a part of other trees: whether they read and write it is not known.
            used = (*found.reads.get(declared.key.name, ()), *found.writes.get(declared.key.name, ()))
            if not used and declared.key.name not in found.in_rules:
                yield _unused_key(declared)
    if flow.is_whole:
        yield from _early(flow, found)
    if flow.file == flow.tree.file:
        yield from _lost_defaults(flow)
        yield from _parameters(flow)
    for node in flow.nodes:
        yield from _until(flow, node, found)


# --- declared keys


def _of_key(flow: Flow, declared: Declaration, found: Accesses) -> Iterator[Mistake]:
    key = declared.key
    names = sorted(names_of(flow, key))
    reads = [
        read
        for name in names
        for read in found.reads.get(name, ())
        if not (read.node.kind == "set" and read.placed.use.at == ("values", key.name))  # as in `count: count + 1`
    ]
    writes = [write for name in names for write in found.writes.get(name, ())]
    if not reads and not writes and key.name not in found.in_rules:
        yield _unused_key(declared)
    elif not reads and key.name not in found.in_rules:
        own = next((write for write in writes if write.node.place.file == flow.file), None)
        if own is not None and flow.is_whole:  # a tree that includes this one may take the value by `out`
            message = f"{key.name!r} is written, but nothing reads it"
            hint = f"use it in an expression or as '{{{key.name}}}' in a text, or remove it"
            yield warning_at(own, "key-never-read", message, hint, length=len(key.name))
    elif key.deliverable and key.type == "bool" and all(isinstance(read.placed.use, DeliveryUse) for read in reads):
        message = f"the wait ends with any value of {key.name!r}, even false, and nothing tests the value"
        hint = f"write 'condition: {key.name}' after it"
        yield warning_at(reads[0], "answer-ignored", message, hint, length=len(key.name))
    elif reads and not writes and not key.deliverable and is_unset(key):
        own = next((read for read in reads if read.node.place.file == flow.file), None)
        if own is not None:
            message = f"{key.name!r} is read, but nothing writes it: it is always {brief(key.default)}"
            line = declared.place.line
            hint = f"write it with 'set' or 'into', or give it the default that is meant, on line {line}"
            yield warning_at(own, "key-never-written", message, hint, length=len(key.name))


def _unused_key(declared: Declaration) -> Mistake:
    name = declared.key.name
    return at_declaration(declared, "key-unused", f"nothing reads or writes {name!r}", "remove it, or use it")


def at_declaration(declared: Declaration, code: str, message: str, hint: str) -> Mistake:
    """A warning about the declaration of a key."""
    place = declared.place
    end = Place(place.file, place.line, place.column + len(declared.key.name))
    return Mistake(place, message, hint, None, code, "warning", end)


# --- order


def _early(flow: Flow, found: Accesses) -> Iterator[Mistake]:
    """Reads of keys that still have an empty default whenever the node is ticked."""
    for name, reads in found.reads.items():
        key = flow.tree.keys.get(name)
        if key is None or key.private or key.deliverable or name == REASON:
            continue
        is_of_host = name in flow.registry.keys  # its numbers begin with what is true then
        if not (key.default in (None, "") if is_of_host else is_unset(key)):
            continue
        writers = _writers(flow, name)
        kinds = flow.registry.kinds.values() if is_of_host and not writers else ()
        able = [kind.name for kind in kinds if _can_write(kind, name)]
        if not writers and (writers is None or not able):
            continue  # not known, or never written, which is said elsewhere
        # The nodes before the first writer; all if there is none.
        paths = flow.tree.paths
        before = frozenset(paths[: paths.index(writers[0].path)] if writers else paths)
        early = (read for read in reads if read.node.path in before and _is_early(flow, read, name, key))
        reported = next(early, None)
        if reported is not None:
            yield _early_read(flow, reported, key, writers, able)


def _writers(flow: Flow, name: str) -> list[NodeDefinition] | None:
    """The nodes that write a key; `None` if there are nodes of which that is not known."""
    found = []
    for node in flow.tree.root.walk():
        own = name in writes_of(node)
        written = flow.walk.written(node) if not node.children else None
        if written is not None and written.everything:
            return None
        if own or (written is not None and name in written.keys):
            found.append(node)
    return found


def _is_early(flow: Flow, read: Access, name: str, key: Key) -> bool:
    node = read.node
    if node.place.file != flow.file or not flow.is_reached(node) or read.placed.use.at == ("until",):
        return False
    if name in writes_of(node):
        return False  # it begins with its first value, such as a text that grows
    start = of_value(key.default)
    if any(name not in state.keys or state.keys[name] != start for state in flow.states(node)):
        return False
    return not _has_been_asked(flow, node, name)


def _has_been_asked(flow: Flow, node: NodeDefinition, name: str) -> bool:
    """Whether an earlier condition may have tested that the key is empty."""
    for other in flow.tree.root.walk():
        if other is node:
            return False
        if any(name in names_in(text) for _, text in expressions(other)):
            return True
    return False


def _early_read(flow: Flow, read: Access, key: Key, writers: list[NodeDefinition], able: list[str]) -> Mistake:
    name = key.name
    if writers:
        first = writers[0]
        message = f"{name!r} is still {brief(key.default)} here: {first.kind!r}, which writes it, comes later"
        on_line = f" (line {first.place.line})" if first.place.file == flow.file else ""
        hint: str | None = f"put {first.kind!r}{on_line} before this"
    else:
        message = f"{name!r} is always {brief(key.default)} here: no node of this tree writes it"
        hint = f"put {able[0]!r} before this, which writes it" if able else None
    return warning_at(read, "key-read-early", message, hint, length=len(name))


def _can_write(kind: Kind, name: str) -> bool:
    """Whether a kind without required settings writes a key of the host."""
    required = any(info.is_required() for info in kind.settings.model_fields.values())
    if required or not isinstance(kind.flow, LeafFlow):
        return False
    return any(name in case.writes for case in kind.flow.cases(kind.settings()))


# --- what is waited for


def _until(flow: Flow, node: NodeDefinition, found: Accesses) -> Iterator[Mistake]:
    for placed, text in expressions(node):
        names = [name for name in names_in(text) if name not in node.constants]
        if placed.use.at != ("until",) or not names:
            continue
        changing = may_change(flow, node)
        if changing is None or changing.intersection(names):
            continue
        over, waits, _ = flow.walk.split(node, text, flow.states(node))
        if not waits or (over and not node.children):
            continue  # true already; a `wait` is of use if it may be, because it lets what comes next begin then
        words = ", ".join(map(repr, names))
        message = f"nothing that runs meanwhile changes {words}, so 'until' stays as it is"
        elsewhere = [write for name in names for write in found.writes.get(name, ())]
        hint = "write it inside this node, or wait for something that changes"
        if elsewhere:
            hint = f"{elsewhere[0].node.kind!r} on line {elsewhere[0].place.line} writes it, outside this node"
        yield warning_at(Access(node, placed), "until-never-changes", message, hint, length=len(text))


# --- subtrees


def _lost_defaults(flow: Flow) -> Iterator[Mistake]:
    declarations = [declared for declared in flow.tree.declarations if not declared.is_parameter]
    for first in own_keys(flow):
        for other in declarations:
            name, default = first.key.name, other.key.default
            if (
                other.key.private
                or other.tree == first.tree
                or other.key.name != name
                or default is None
                or default == first.key.default
            ):
                continue
            message = (
                f"{name!r} begins with {brief(first.key.default)}: the default {brief(default)} of the tree "
                f"{other.tree!r}, which is included here, has no effect"
            )
            hint = f"choose another name, or write 'default: {brief(default)}'"
            yield at_declaration(first, "default-lost", message, hint)
            break


def _parameters(flow: Flow) -> Iterator[Mistake]:
    named = {name for node in flow.nodes for _, text in expressions(node) for name in names_in(text)}
    for declared in flow.tree.declarations:
        name = declared.key.name
        if not declared.is_parameter or declared.place.file != flow.file or declared.is_inserted or name in named:
            continue
        message = f"the parameter {name!r} has no effect: nothing uses it"
        hint = f"use it as '${{{name}}}' in a setting or as {name!r} in an expression, or remove it"
        yield at_declaration(declared, "parameter-unused", message, hint)
