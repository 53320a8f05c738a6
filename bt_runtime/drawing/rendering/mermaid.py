"""The tree as a Mermaid flowchart, for Markdown pages."""

from bt_runtime.drawing.rendering.labels import Statuses, edges_of, label_of, status_of
from bt_runtime.language.definition import NodeDefinition, TreeDefinition

_PLAIN = frozenset(" .,:=_+-*/()?!→⇉…")
_CLASSES = (
    "classDef success fill:#e3f4e5,stroke:#2e7d32,color:#111",
    "classDef failure fill:#fbe4e4,stroke:#c62828,color:#111",
    "classDef running fill:#fff1cc,stroke:#b26a00,color:#111",
    "classDef invalid fill:#f3f4f6,stroke:#9aa0a6,color:#555",
)


def render_mermaid(tree: TreeDefinition, statuses: Statuses | None = None) -> str:
    """A `flowchart TD`; composites are boxes, decorators hexagons, leaves rounded."""
    lines = ["flowchart TD"]
    for index, node in enumerate(tree.nodes()):
        status = status_of(node, statuses)
        lines.append(f"    n{index}{_shape(node)}{f':::{status.lower()}' if status else ''}")
    for parent, slot, child in edges_of(tree):
        arrow = f"-->|{_escaped(slot)}|" if slot else "-->"
        lines.append(f"    n{parent} {arrow} n{child}")
    if statuses is not None:
        lines += [f"    {definition}" for definition in _CLASSES]
    return "\n".join(lines)


def _shape(node: NodeDefinition) -> str:
    label = label_of(node, longest_detail=60)
    detail = f"<br/>{_escaped(label.detail)}" if label.detail else ""
    text = f'"{_escaped(label.heading)}{detail}"'
    if not any(node.children.values()):
        return f"({text})"
    return f"[{text}]" if label.symbol else f"{{{{{text}}}}}"


def _escaped(text: str) -> str:
    """All but letters, digits and harmless signs as Mermaid's `#code;`: quotes, brackets, HTML, Markdown."""
    return "".join(sign if sign.isalnum() or sign in _PLAIN else f"#{ord(sign)};" for sign in text)
