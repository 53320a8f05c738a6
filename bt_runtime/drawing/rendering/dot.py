"""The tree in Graphviz's DOT language."""

from bt_runtime.drawing.rendering.labels import Statuses, edges_of, label_of, status_of
from bt_runtime.language.definition import NodeDefinition, TreeDefinition

_COLOURS = {
    "SUCCESS": ("#e3f4e5", "#2e7d32"),
    "FAILURE": ("#fbe4e4", "#c62828"),
    "RUNNING": ("#fff1cc", "#b26a00"),
    "INVALID": ("#f3f4f6", "#9aa0a6"),
}


def render_dot(tree: TreeDefinition, statuses: Statuses | None = None) -> str:
    """A `digraph` whose node order is the order of the file."""
    lines = [
        f"digraph {_quoted(tree.name)} {{",
        '    graph [ordering=out, rankdir=TB, fontname="Helvetica"];',
        '    node [shape=box, style="filled", fillcolor="white", fontname="Helvetica", fontsize=11];',
        '    edge [arrowhead=none, fontname="Helvetica", fontsize=9];',
    ]
    lines += [f"    n{index} [{_attributes(node, statuses)}];" for index, node in enumerate(tree.nodes())]
    for parent, slot, child in edges_of(tree):
        attributes = f" [label={_quoted(slot)}]" if slot else ""
        lines.append(f"    n{parent} -> n{child}{attributes};")
    return "\n".join([*lines, "}"])


def _attributes(node: NodeDefinition, statuses: Statuses | None) -> str:
    label = label_of(node, longest_detail=60)
    # `\n` is DOT's own line break; those of the author are escaped already.
    text = _escaped(label.heading) + (f"\\n{_escaped(label.detail)}" if label.detail else "")
    attributes = [f'label="{text}"', f"tooltip={_quoted(node.path)}"]
    if not any(node.children.values()):
        attributes.append('style="filled,rounded"')
    elif not label.symbol:
        attributes.append("shape=hexagon")
    status = status_of(node, statuses)
    if status:
        fill, line = _COLOURS[status]
        attributes.append(f'fillcolor="{fill}", color="{line}"')
    return ", ".join(attributes)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'
