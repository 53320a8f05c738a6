"""What differs between two texts of a tree: by its nodes if both can be read, otherwise by lines."""

from difflib import unified_diff
from itertools import islice

from bt_runtime import TreeDefinition, TreeFileError, TreeLibrary, difference
from bt_runtime.text import visible

_MOST_LINES = 100
_MOST_COMPARED = 5_000
"""Lines of a text; the comparison of hostile texts takes the square of it."""


def compared(old: str, new: str, *, name: str, library: TreeLibrary) -> str:
    """The difference between two texts of a tree, for people.

    Args:
        old: the earlier text.
        new: the later text.
        name: the name of the tree, for messages.
        library: has the trees that they include; its present files.
    """
    before, after = (_tree(text, name, library) for text in (old, new))
    if before is not None and after is not None:
        return str(difference(before, after))
    return _by_lines(old, new)


def _tree(text: str, name: str, library: TreeLibrary) -> TreeDefinition | None:
    try:
        return library.read_text(text, file=f"{name}.yaml", name=name)
    except TreeFileError:
        return None


def _by_lines(old: str, new: str) -> str:
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > _MOST_COMPARED:
        return f"{len(before):,} lines have become {len(after):,}"
    lines = islice(unified_diff(before, after, "before", "now", lineterm="", n=1), _MOST_LINES)
    return "\n".join(visible(line.rstrip())[:200] for line in lines)
