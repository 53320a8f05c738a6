"""A tolerant, bounded scanner for parts of the conversation's format that a model echoes and no user should see.

Rules:

- A note of the control, `<control_note>…</control_note>`, is dropped with its text; one that is not closed ends with
  its paragraph.
- A call of a tool that is written as text, `<tool_call>…</tool_call>`, is dropped and reported. One that is not closed
  reaches to the end of the window if JSON or a tag follows.
- `<think>` that begins a line begins thinking, which is no text of the response, up to `</think>`.
- Markers of chat templates, `<|im_start|>assistant`, and other tags of these names are dropped alone.
"""

import re
from typing import Literal, NamedTuple

from .markup import WHITE, word_or_part
from .view import TextView

_BLOCKS = ("control_note", "tool_call", "function_call")
_NAMES = (*_BLOCKS, "think", "start_of_turn", "end_of_turn")
_BAR = r"[|\uff5c]"
_END_OF_NAME = rf"(?=[{WHITE}>]|\Z)"


LEAK_START = rf"(?:{_BAR}|/?(?:{'|'.join(word_or_part(name, _END_OF_NAME) for name in _NAMES)}))"
"""What follows a `<` that may begin a leak, also where the text ends before that is certain."""

_MARKER = rf"{_BAR}[^|\uff5c<>\r\n]{{0,40}}"
_LEAK = re.compile(
    rf"<(?:{_MARKER}{_BAR}>(?:(?:system|user|assistant)\b)?|(/?)({'|'.join(_NAMES)}){_END_OF_NAME}[^<>]{{0,200}}>)"
)
_PART = re.compile(rf"<(?:{_MARKER}(?:{_BAR}(?:>[a-z]{{0,9}})?)?|{LEAK_START}[^<>]{{0,200}})\Z")
_PARAGRAPH = re.compile(rf"[{WHITE}]*.*?(?=\n\n|\Z)", re.DOTALL)
_LOOKS_LIKE_A_CALL = re.compile(rf"[{WHITE}]*[\[{{<]")
THOUGHT_END = re.compile(rf"<{word_or_part('/think>', f'[{WHITE}]{{0,64}}')}")
"""The end of thinking with the white space behind it, or the part of it with which the text ends."""


class Leak(NamedTuple):
    """A part to be dropped.

    Args:
        end: after its last character.
        kind: what it is, beyond its own characters.
    """

    end: int
    kind: Literal["call", "thinking", ""] = ""


def find_leak(view: TextView, start: int) -> Leak | None:
    """The leak that begins at `start`; at most `WINDOW_CHARS` of the text are read.

    Raises:
        MoreTextNeeded: more text could change the answer.
    """
    text, end = view.text, view.end
    if _PART.match(text, start, end):
        view.require_whole()
    tag = _LEAK.match(text, start, end)
    if tag is None:
        return None
    name, after = tag[2], tag.end()
    if tag[1] or name not in _BLOCKS:
        begins = name == "think" and not tag[1] and text[start - 1] in "\r\n"
        return Leak(after, "thinking" if begins else "")
    kind: Literal["call", ""] = "" if name == "control_note" else "call"
    closing = text.find(f"</{name}>", after, end)
    if closing >= 0:
        return Leak(closing + len(name) + 3, kind)
    view.require_whole(">")
    if kind:
        return Leak(end, kind) if _LOOKS_LIKE_A_CALL.match(text, after, end) else Leak(after)
    paragraph = _PARAGRAPH.match(text, after, end)
    return Leak(paragraph.end() if paragraph else end)


def is_beginning_of_leak(text: str, start: int) -> bool:
    """Whether the text ends within what may become a leak; a bare `<` is text."""
    return len(text) >= start + 2 and _PART.match(text, start) is not None
