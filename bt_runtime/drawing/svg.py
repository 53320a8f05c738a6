"""The tree as SVG, without Graphviz.

The root is at the left and every leaf has a row of its own, in the order of the file; a parent is centred on its
children. So labels never overlap, and a tree of 60 nodes fits on a page.
"""

import unicodedata
from collections.abc import Iterator
from xml.sax.saxutils import escape

from bt_runtime.drawing.labels import (
    SYMBOLS,
    Label,
    Statuses,
    children_of,
    label_of,
    status_of,
)
from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.text import visible
from bt_runtime.text.data import dataclass

_CHARACTER_PX = 7.2
_SMALL_CHARACTER_PX = 6.1
_ROW_PX = 44
_BOX_PX = 34
_GAP_PX = 56
_MARGIN_PX = 16
_TITLE_PX = 34
_LONGEST_DETAIL = 44

_STYLE = """
  .box { fill: #fff; stroke: #5f6b7a; stroke-width: 1.2 }
  .composite { fill: #eef3fb } .decorator { fill: #f6f1fb }
  .success { fill: #dff3e2; stroke: #2e7d32 } .failure { fill: #fbe0e0; stroke: #c62828 }
  .running { fill: #fff0c9; stroke: #b26a00 } .invalid { fill: #f3f4f6; stroke: #b0b6bd }
  .edge { fill: none; stroke: #8a94a0; stroke-width: 1.2 }
  text { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1d232a }
  .kind { font-size: 11px; font-weight: 600 } .detail { font-size: 10px; fill: #4a5562 }
  .slot { font-size: 9px; fill: #6b7683 } .title { font-size: 13px; font-weight: 600 }
"""


@dataclass(slots=True)
class _Box:
    node: NodeDefinition
    label: Label
    title: str
    slot: str
    width_px: float
    children: list["_Box"]
    x_px: float = 0
    y_px: float = 0

    def walk(self) -> "Iterator[_Box]":
        yield self
        for child in self.children:
            yield from child.walk()


def render_svg(tree: TreeDefinition, statuses: Statuses | None = None) -> str:
    """An SVG document; each node has its path as a tooltip, and `data-path` for scripts."""
    root = _box(tree.root, statuses, slot="")
    boxes = list(root.walk())
    _place(boxes)
    heading = visible(f"{tree.name}: {tree.description}" if tree.description else tree.name)
    width = max(_MARGIN_PX + _width(heading, 8.0), *(box.x_px + box.width_px for box in boxes)) + _MARGIN_PX
    height = max(box.y_px for box in boxes) + _BOX_PX / 2 + _MARGIN_PX
    size = f'width="{width:.0f}" height="{height:.0f}"'
    view = f'viewBox="0 0 {width:.0f} {height:.0f}"'
    title = _attribute(f"Tree {tree.name}")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view} role="img" aria-label={title}>',
        f"<style>{_STYLE}</style>",
        f'<rect {size} fill="#fff"/>',
        f'<text class="title" x="{_MARGIN_PX}" y="{_MARGIN_PX + 8}">{escape(heading)}</text>',
        *(_edge(box, child) for box in boxes for child in box.children),
        *(_drawn(box, statuses) for box in boxes),
        "</svg>",
    ]
    return "\n".join(parts)


def _box(node: NodeDefinition, statuses: Statuses | None, *, slot: str) -> _Box:
    label = label_of(node, longest_detail=_LONGEST_DETAIL)
    status = status_of(node, statuses)
    title = (f"{SYMBOLS[status]} " if status else "") + label.heading
    children = [_box(child, statuses, slot=name) for name, child in children_of(node)]
    width = max(_width(title, _CHARACTER_PX), _width(label.detail, _SMALL_CHARACTER_PX)) + 16
    return _Box(node, label, title, slot, width, children)


def _place(boxes: list[_Box]) -> None:
    """Columns to the right of the parent's box; a row per leaf, so that boxes never overlap."""
    boxes[0].x_px = _MARGIN_PX
    for box in boxes:
        for child in box.children:
            child.x_px = box.x_px + box.width_px + _GAP_PX
    leaves = [box for box in boxes if not box.children]
    for row, leaf in enumerate(leaves):
        leaf.y_px = _MARGIN_PX + _TITLE_PX + row * _ROW_PX
    for box in reversed(boxes):
        if box.children:
            box.y_px = (box.children[0].y_px + box.children[-1].y_px) / 2


def _edge(box: _Box, child: _Box) -> str:
    start, end = box.x_px + box.width_px, child.x_px
    middle = end - _GAP_PX + 14
    path = f"M{start:.1f} {box.y_px:.1f} H{middle:.1f} V{child.y_px:.1f} H{end:.1f}"
    text = ""
    if child.slot:
        x, y = end - 4, child.y_px - 4
        text = f'<text class="slot" x="{x:.1f}" y="{y:.1f}" text-anchor="end">{escape(child.slot)}</text>'
    return f'<path class="edge" d="{path}"/>{text}'


def _drawn(box: _Box, statuses: Statuses | None) -> str:
    node = box.node
    status = status_of(node, statuses)
    kind = "composite" if box.label.symbol else ("decorator" if box.children else "leaf")
    classes = f"box {kind}" if status is None else f"box {status.lower()}"
    corner = 3 if box.children else 12
    top = box.y_px - _BOX_PX / 2
    title_y = box.y_px - 3 if box.label.detail else box.y_px + 4
    place = f'x="{box.x_px:.1f}" y="{top:.1f}" width="{box.width_px:.1f}" height="{_BOX_PX}" rx="{corner}"'
    lines = [
        f"<g data-path={_attribute(node.path)}><title>{escape(visible(node.path))}</title>",
        f'<rect class="{classes}" {place}/>',
        f'<text class="kind" x="{box.x_px + 8:.1f}" y="{title_y:.1f}">{escape(box.title)}</text>',
    ]
    if box.label.detail:
        y = box.y_px + 11
        lines.append(f'<text class="detail" x="{box.x_px + 8:.1f}" y="{y:.1f}">{escape(box.label.detail)}</text>')
    return "".join([*lines, "</g>"])


def _attribute(text: str) -> str:
    return '"' + escape(visible(text), {'"': "&quot;", "'": "&#39;"}) + '"'


def _width(text: str, character_px: float) -> float:
    wide = sum(unicodedata.east_asian_width(character) in {"W", "F"} for character in text)
    return (len(text) + wide) * character_px
