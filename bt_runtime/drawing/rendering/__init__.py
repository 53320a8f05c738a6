"""Pictures of a tree: text, Mermaid, DOT, SVG and JSON, optionally with the statuses of a run.

Names and settings are untrusted, so every format escapes them in its own way.
"""

from collections.abc import Callable, Mapping
from typing import Literal, get_args

from bt_runtime.drawing.rendering.data import render_json
from bt_runtime.drawing.rendering.labels import Statuses
from bt_runtime.drawing.rendering.svg import render_svg
from bt_runtime.drawing.rendering.text_formats import render_dot, render_mermaid, render_text
from bt_runtime.language.definition import TreeDefinition

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
