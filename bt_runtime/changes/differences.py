"""The differences between two versions of a tree: nodes, keys and parameters.

Rules:

- Nodes are matched from the root down. Among the children of a slot, equal subtrees come first (so that one inserted
  child does not make all later ones look changed), then children with the same name, or of the same kind.
- What is left over on both sides is matched across the whole tree: equal subtrees, the largest first, then those of one
  kind that have at least half of their nodes in common, then equal leaves. These have been moved; around a node that
  was only wrapped, the wrapper is what was added.
- Layout and comments are no difference.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Literal

from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.language.kind import Key
from bt_runtime.text import brief, visible
from bt_runtime.text.data import dataclass

MOST_LINES = 100
"""How many changes the text form lists."""

_LEAST_IN_COMMON = 0.5
"""The share of equal nodes from which on two subtrees are the same one, moved and changed."""
_MOST_CANDIDATES = 2_000
"""How many pairs are looked at for that."""

ChangeKind = Literal["added", "removed", "moved", "changed"]
_MARKS: Mapping[ChangeKind, str] = {"added": "+", "removed": "-", "moved": ">", "changed": "~"}


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    Args:
        what: the path of the node, in the new tree unless it was removed; or `key NAME`, `parameter NAME`, `tree`.
        text: what has changed, for people; empty if there is no more to say.
    """

    kind: ChangeKind
    what: str
    text: str = ""

    def __str__(self) -> str:
        return f"{_MARKS[self.kind]} {visible(self.what)}{': ' if self.text else ''}{self.text}"


@dataclass(frozen=True, slots=True)
class Difference:
    """All differences between two versions of a tree, those of its head first; false if there are none."""

    changes: tuple[Change, ...]

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __str__(self) -> str:
        """A line per change: `+` added, `-` removed, `>` moved, `~` changed; the first hundred."""
        if not self.changes:
            return "no difference but in layout or comments"
        lines = [str(change) for change in self.changes[:MOST_LINES]]
        more = len(self.changes) - len(lines)
        if more:
            lines.append(f"and {more:,} more change{'' if more == 1 else 's'}")
        return "\n".join(lines)


def difference(old: TreeDefinition, new: TreeDefinition) -> Difference:
    """What differs in the new version of a tree, subtrees included."""
    return Difference((*_heads(old, new), *_Comparison(old, new).changes()))


def _heads(old: TreeDefinition, new: TreeDefinition) -> Iterator[Change]:
    for name in ("description", "internal"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield Change("changed", "tree", _step(name, before, after))
    yield from _keys("parameter", old.parameters, new.parameters, required=(old.required, new.required))
    yield from _keys("key", old.keys, new.keys)


def _keys(
    word: str,
    old: Mapping[str, Key],
    new: Mapping[str, Key],
    *,
    required: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset()),
) -> Iterator[Change]:
    for name in dict.fromkeys((*old, *new)):
        what, before, after = f"{word} {name}", old.get(name), new.get(name)
        if before is None and after is not None:
            first = "required" if name in required[1] else f"default {brief(after.default)}"
            yield Change("added", what, f"{after.type}, {first}")
        elif after is None:
            yield Change("removed", what)
        elif before is not None:
            steps = [
                _step(each, getattr(before, each), getattr(after, each))
                for each in ("type", "default", "description")
                if not _is_same(getattr(before, each), getattr(after, each))
            ]
            if (name in required[0]) != (name in required[1]):
                steps.append("required now" if name in required[1] else "optional now")
            if steps:
                yield Change("changed", what, ", ".join(steps))


class _Comparison:
    """Two versions of a tree: the changes that were found, and the subtrees that are left over on either side."""

    def __init__(self, old: TreeDefinition, new: TreeDefinition) -> None:
        self._old, self._new = old, new
        self._signs: dict[int, int] = {}
        self._numbers: dict[str, int] = {}
        self._found: list[Change] = []
        self._gone: list[NodeDefinition] = []
        self._come: list[NodeDefinition] = []
        self._matched: set[int] = set()

    def changes(self) -> Iterator[Change]:
        """What was removed, then everything else in the order of the new tree."""
        for root in (self._old.root, self._new.root):
            self._sign(root)
        if _may_be_one(self._old.root, self._new.root):
            self._compare(self._old.root, self._new.root)
        else:
            self._gone.append(self._old.root)
            self._come.append(self._new.root)
        self._match_equal(least=2)
        self._match_near()
        self._match_equal(least=1)
        yield from (Change("removed", node.path, text) for node, text in self._left(self._gone))
        self._found += [Change("added", node.path, text) for node, text in self._left(self._come)]
        order = {path: at for at, path in enumerate(self._new.paths)}
        yield from sorted(self._found, key=lambda change: order[change.what])

    def _sign(self, root: NodeDefinition) -> None:
        """Number the nodes so that equal subtrees have one number."""
        for node in reversed(tuple(root.walk())):  # children before their parents
            below = [(slot, [self._signs[id(each)] for each in nodes]) for slot, nodes in node.children.items()]
            text = f"{node.kind}\0{node.name}\0{node.settings!r}\0{dict(node.constants)!r}\0{below}"
            self._signs[id(node)] = self._numbers.setdefault(text, len(self._numbers))

    def _compare(self, old: NodeDefinition, new: NodeDefinition) -> None:
        """Note what differs between a node and its later version, and below them."""
        waiting = [(old, new, old is self._old.root)]  # the parameters of the tree itself are compared with its head
        while waiting:
            before, after, is_told = waiting.pop()
            if self._signs[id(before)] == self._signs[id(after)]:
                continue
            steps = list(_changed_values(_values(before), _values(after)))
            arguments = list(_changed_values(before.constants, after.constants))
            steps += [] if is_told else arguments  # all nodes of an included tree have its arguments
            if before.name != after.name:
                steps.append(_step("name", before.name, after.name))
            if steps:
                self._found.append(Change("changed", after.path, ", ".join(steps)))
            for slot in dict.fromkeys((*before.children, *after.children)):
                pairs = self._pair(before.children.get(slot, ()), after.children.get(slot, ()))
                waiting += [(one, other, bool(arguments)) for one, other in pairs]

    def _pair(
        self, old: Sequence[NodeDefinition], new: Sequence[NodeDefinition]
    ) -> list[tuple[NodeDefinition, NodeDefinition]]:
        """The children of a slot that belong together and differ; those without a partner are left over."""
        before, after = ([self._signs[id(node)] for node in nodes] for nodes in (old, new))
        pairs = []
        for tag, a0, a1, b0, b1 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if tag == "equal":
                continue
            partners: dict[tuple[str, str | None], list[NodeDefinition]] = defaultdict(list)
            for node in reversed(old[a0:a1]):
                partners[node.kind, node.name].append(node)
            for node in new[b0:b1]:
                if partners[node.kind, node.name]:
                    pairs.append((partners[node.kind, node.name].pop(), node))
                else:
                    self._come.append(node)
            left = {id(node) for nodes in partners.values() for node in nodes}
            self._gone += [node for node in old[a0:a1] if id(node) in left]
        return pairs

    def _match_equal(self, *, least: int) -> None:
        """Match equal subtrees of at least this many nodes among those left over, the largest first."""
        targets: dict[int, list[NodeDefinition]] = defaultdict(list)
        for root in reversed(self._come):
            for node in reversed(tuple(root.walk())):
                targets[self._signs[id(node)]].append(node)
        nodes = [(node, sum(1 for _ in node.walk())) for root in self._gone for node in root.walk()]
        for old, size in sorted(nodes, key=lambda each: -each[1]):
            if size < least or id(old) in self._matched:
                continue
            candidates = targets[self._signs[id(old)]]
            while candidates and id(candidates[-1]) in self._matched:
                candidates.pop()
            if candidates:
                self._note_moved(old, candidates.pop())

    def _match_near(self) -> None:
        """Match subtrees that are left over and were moved and changed."""
        olds, news = (
            [node for root in roots for node in root.walk() if any(node.children.values())]
            for roots in (self._gone, self._come)
        )
        pairs = ((old, new) for old in olds for new in news if _may_be_one(old, new) and self._are_free(old, new))
        rated = [(_in_common(old, new), old, new) for old, new in islice(pairs, _MOST_CANDIDATES)]
        for share, old, new in sorted(rated, key=lambda each: -each[0]):
            if share >= _LEAST_IN_COMMON and self._are_free(old, new):
                self._note_moved(old, new)
                self._compare(old, new)

    def _are_free(self, old: NodeDefinition, new: NodeDefinition) -> bool:
        return not {id(old), id(new)} & self._matched

    def _note_moved(self, old: NodeDefinition, new: NodeDefinition) -> None:
        self._matched |= {id(node) for root in (old, new) for node in root.walk()}
        text = f"from {visible(old.path)}" if old.path != new.path else "to another place among its siblings"
        self._found.append(Change("moved", new.path, text))

    def _left(self, roots: Sequence[NodeDefinition]) -> Iterator[tuple[NodeDefinition, str]]:
        """The topmost nodes without a match, with the number of all of them below."""
        for root in roots:
            nodes = [node for node in root.walk() if id(node) not in self._matched]
            if nodes:
                yield nodes[0], f"{len(nodes)} nodes" if len(nodes) > 1 else _described(nodes[0])


def _may_be_one(old: NodeDefinition, new: NodeDefinition) -> bool:
    return old.kind == new.kind and (old.name == new.name or not (old.name and new.name))


def _in_common(old: NodeDefinition, new: NodeDefinition) -> float:
    before, after = (Counter((each.kind, repr(each.settings)) for each in node.walk()) for node in (old, new))
    return 2 * (before & after).total() / (before.total() + after.total())


def _described(node: NodeDefinition) -> str:
    return ", ".join(
        f"{name} {brief(value)}" for name, value in _values(node).items() if value not in (None, {}, [], "")
    )


def _values(node: NodeDefinition) -> dict[str, object]:
    return node.settings.model_dump(by_alias=True)


def _changed_values(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[str]:
    for name in dict.fromkeys((*old, *new)):
        if not _is_same(old.get(name), new.get(name)):
            yield _step(name, old.get(name), new.get(name))


def _is_same(old: object, new: object) -> bool:
    """Whether two settings are the same: 1, 1.0 and true are three."""
    return repr(old) == repr(new)


def _step(name: str, old: object, new: object) -> str:
    return f"{visible(name)} {brief(old)} -> {brief(new)}"
