"""A proposal of the completion before its place is known."""

from dataclasses import dataclass
from typing import Literal

ItemKind = Literal[
    "field",
    "node",
    "setting",
    "slot",
    "value",
    "type",
    "key",
    "parameter",
    "function",
    "word",
    "tree",
    "tool",
    "argument",
    "code",
]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that can be typed.

    Args:
        label: the text that lists show.
        kind: the kind of thing, which an editor shows as an icon.
        insert: the text, if it is not the label.
        snippet: the text with tab stops, if it has any.
        order: lower ones come first.
        typed: what of it is typed already, if that is not the whole scalar.
        is_key: it is the key of a mapping; where the colon is there, only its name is inserted.
    """

    label: str
    kind: ItemKind
    detail: str = ""
    doc: str = ""
    insert: str = ""
    snippet: str | None = None
    order: int = 0
    typed: str | None = None
    is_key: bool = False
