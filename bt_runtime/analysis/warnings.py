"""Makes warnings about nodes, and their fixes."""

import re
from collections.abc import Iterator

from bt_runtime.analysis.flow import Flow
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.text import Edit, Fix, Mistake, Place

_ITEM = re.compile(r"[ \t]*- *")


def warning(
    flow: Flow, node: NodeDefinition, code: str, message: str, hint: str | None = None, *, removable: bool = False
) -> Mistake:
    """A warning about a node.

    Args:
        hint: what would be right, for the author; `None`: nothing to add.
        flow: of the file that is judged; for a node of another file the place is the node that includes it.
        node: the node meant.
        code: of `bt_runtime.analysis.codes`, or of the host.
        message: what is wrong, with the line of the cause.
        removable: the mistake is gone when the node is removed.
    """
    at = flow.in_file(node)
    end = Place(at.place.file, at.place.line, at.place.column + len(at.kind))
    removal = removal_of(flow, at) if removable and at is node else None
    return Mistake(at.place, message, hint, at.path, code, "warning", end, (removal,) if removal else ())


def said(flow: Flow, node: NodeDefinition) -> str:
    """A node in messages: `'stop' on line 14`, with its file if that is another one."""
    if node.place.file == flow.file:
        return f"{node.kind!r} on line {node.place.line}"
    return f"{node.kind!r} on line {node.place.line} of {node.place.file.rpartition('/')[2]}"


def number_of(node: NodeDefinition, setting: str) -> float | None:
    """A setting of a node that is a number; `None` for an expression, and where there is none."""
    value = vars(node.settings).get(setting)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def steps_of(node: NodeDefinition) -> Iterator[NodeDefinition]:
    """The steps of a node: those of a sequence, also of one in it, or the node itself."""
    if node.kind == "sequence":
        for child in node.children["children"]:
            yield from steps_of(child)
    else:
        yield node


def removal_of(flow: Flow, node: NodeDefinition) -> Fix | None:
    """Removes a node that is an item of a list with other items, in lines of its own; `None` where that is not so."""
    parent = flow.parents.get(node.path)
    siblings = next((nodes for nodes in parent.children.values() if node in nodes), ()) if parent else ()
    lines = flow.tree.texts.get(flow.file, "").splitlines()
    line, column = node.place.line, node.place.column
    if len(siblings) < 2 or line > len(lines):
        return None
    before = lines[line - 1][: column - 1]
    if not _ITEM.fullmatch(before):
        return None
    indent = len(before) - len(before.lstrip())
    end = line
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent):
        end += 1  # lines that continue the item
    while end > line and not lines[end - 1].strip():
        end -= 1
    edit = Edit(Place(flow.file, line), Place(flow.file, end + 1), "")
    return Fix(f"Remove {node.kind!r}", (edit,))
