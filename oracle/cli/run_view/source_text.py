"""The text of a node in its file: on one line, without what the view shows elsewhere."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from oracle.cli.run_view.spans import safe
from oracle.histories.model import NodeFacts, TreeFacts

_PAIRS = {"}": "{", "]": "["}


class SourceText:
    """The lines of the files of a tree."""

    def __init__(self, tree: TreeFacts) -> None:
        self._tree = tree

    @cached_property
    def _lines(self) -> Mapping[str, Sequence[str]]:
        return {file: content.splitlines() for file, content in self._tree.files.items()}

    def of(self, node: NodeFacts, *, has_children: bool) -> str:
        """What stands at the place of the node, without list dash and comment: `condition: cut_off`.

        The name of a node follows its kind, as in `sequence: give_up`. A setting over several lines is `…`.
        """
        found = self._at(node)
        if found is None:
            return safe(node.label)
        if found.endswith(":"):
            if node.name:
                return safe(f"{found} {node.name}")
            return safe(found if has_children else f"{found} …")
        if found.endswith((": >-", ": >", ": |", ": |-")):
            return safe(f"{found.rpartition(': ')[0]}: …")
        return safe(found)

    def _at(self, node: NodeFacts) -> str | None:
        """The rest of its line; `None` if the kind does not stand there."""
        lines = self._lines.get(node.file, ())
        if not 0 < node.line <= len(lines):
            return None
        rest = lines[node.line - 1][max(0, node.column - 1) :]
        if not rest.startswith(node.kind):
            return None
        return _balanced(_without_comment(rest).rstrip())


def _without_comment(value: str) -> str:
    """Up to a `#` that begins a comment."""
    quote = ""
    for position, character in enumerate(value):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and (position == 0 or value[position - 1] in " [{,:("):
            quote = character
        elif character == "#" and (position == 0 or value[position - 1] in " \t"):
            return value[:position]
    return value


def _balanced(value: str) -> str:
    """Up to a bracket that closes one before the node, or to the next item of a list on one line."""
    open_brackets: list[str] = []
    quote = ""
    for position, character in enumerate(value):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and (position == 0 or value[position - 1] in " [{,:("):
            quote = character
        elif character in "[{":
            open_brackets.append(character)
        elif character in _PAIRS and (not open_brackets or open_brackets.pop() != _PAIRS[character]):
            return value[:position].rstrip()
    return value
