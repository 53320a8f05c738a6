"""Pictures of a tree: text, Mermaid, DOT, SVG and JSON, optionally with the statuses of a run.

Names and settings are untrusted, so every format escapes them in its own way.
"""

from collections.abc import Callable, Mapping
from typing import Literal, get_args

from bt_runtime.drawing.labels import SYMBOLS, Statuses, children_of, edges_of, label_of, render_json, status_of
from bt_runtime.drawing.svg import render_svg
from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.text import visible

_COLOURS = {
    "SUCCESS": ("#e3f4e5", "#2e7d32"),
    "FAILURE": ("#fbe4e4", "#c62828"),
    "RUNNING": ("#fff1cc", "#b26a00"),
    "INVALID": ("#f3f4f6", "#9aa0a6"),
}
_PLAIN = frozenset(" .,:=_+-*/()?!→⇉…")
_CLASSES = (
    "classDef success fill:#e3f4e5,stroke:#2e7d32,color:#111",
    "classDef failure fill:#fbe4e4,stroke:#c62828,color:#111",
    "classDef running fill:#fff1cc,stroke:#b26a00,color:#111",
    "classDef invalid fill:#f3f4f6,stroke:#9aa0a6,color:#555",
)


def render_text(tree: TreeDefinition, statuses: Statuses | None = None) -> str:
    """One line per node, indented by depth; with statuses, each begins with [✓], [✗], [*] or [-]. The rules follow.

    ```
    greet: Says hello.

    sequence
    ├── condition (count < 2)
    └── loop (until=count > 9)
        ├── guards: turn_budget
        └── child: greet_user

    rules:
    polite (greet.yaml:9, refuse): Nothing is said twice.
    ```
    """
    name = f"{tree.name} (internal)" if tree.internal else tree.name
    title = f"{name}: {visible(tree.description)}" if tree.description else name
    lines = [title, ""]
    _append(lines, tree.root, statuses, slot="", first="", rest="")
    if tree.rules:
        lines += ["", "rules:"]
    for rule in tree.rules:  # with the file that declares it: those of subtrees hold as well
        file = rule.place.file.replace("\\", "/").rpartition("/")[2]
        enforced = f", {rule.enforce}" if rule.enforce else ""
        lines.append(f"{rule.name} ({visible(file)}:{rule.place.line}{enforced}): {visible(rule.text)}")
    return "\n".join(lines)


def _append(
    lines: list[str], node: NodeDefinition, statuses: Statuses | None, *, slot: str, first: str, rest: str
) -> None:
    status = status_of(node, statuses)
    mark = f"[{SYMBOLS[status]}] " if status else ""
    lines.append(f"{first}{mark}{slot + ': ' if slot else ''}{label_of(node).line}")
    children = list(children_of(node))
    for position, (name, child) in enumerate(children):
        last = position == len(children) - 1
        branch, below = ("└── ", "    ") if last else ("├── ", "│   ")
        _append(lines, child, statuses, slot=name, first=rest + branch, rest=rest + below)


# --- DOT


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


# --- Mermaid


def render_mermaid(tree: TreeDefinition, statuses: Statuses | None = None) -> str:
    """A `flowchart TD`; composites are boxes, decorators hexagons, leaves rounded."""
    lines = ["flowchart TD"]
    for index, node in enumerate(tree.nodes()):
        status = status_of(node, statuses)
        lines.append(f"    n{index}{_shape(node)}{f':::{status.lower()}' if status else ''}")
    for parent, slot, child in edges_of(tree):
        arrow = f"-->|{_coded(slot)}|" if slot else "-->"
        lines.append(f"    n{parent} {arrow} n{child}")
    if statuses is not None:
        lines += [f"    {definition}" for definition in _CLASSES]
    return "\n".join(lines)


def _shape(node: NodeDefinition) -> str:
    label = label_of(node, longest_detail=60)
    detail = f"<br/>{_coded(label.detail)}" if label.detail else ""
    text = f'"{_coded(label.heading)}{detail}"'
    if not any(node.children.values()):
        return f"({text})"
    return f"[{text}]" if label.symbol else f"{{{{{text}}}}}"


def _coded(text: str) -> str:
    """All but letters, digits and harmless signs as Mermaid's `#code;`: quotes, brackets, HTML, Markdown."""
    return "".join(sign if sign.isalnum() or sign in _PLAIN else f"#{ord(sign)};" for sign in text)


Format = Literal["text", "mermaid", "dot", "svg", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)

_RENDERERS: Mapping[str, Callable[[TreeDefinition, Statuses | None], str]] = {
    "text": render_text,
    "mermaid": render_mermaid,
    "dot": render_dot,
    "svg": render_svg,
    "json": render_json,
}

__all__ = ["FORMATS", "Format", "render"]


def render(tree: TreeDefinition, format: Format = "text", statuses: Statuses | None = None) -> str:  # noqa: A002
    """A picture of a tree.

    Args:
        tree: the tree to draw.
        format: one of `FORMATS`.
        statuses: SUCCESS, FAILURE, RUNNING or INVALID by node path; a node that is not in it is INVALID.

    Raises:
        ValueError: for an unknown format.
    """
    renderer = _RENDERERS.get(format)
    if renderer is None:
        raise ValueError(f"there is no picture format {format!r}; formats are {', '.join(FORMATS)}")
    return renderer(tree, statuses)
