"""The mark of the control's notes in a user's message, for models that take no system messages in a conversation.

A note is `<control_note>`, the text on lines of its own, `</control_note>`. The prompt tells such a model that these
notes come from the control. So that no file, web page or user can forge one, `neutralised` is applied to all material
before it goes to the model: it replaces the angle bracket of every tag that looks like the mark, in any case, and with
white space or invisible characters in between. The model's own responses go back to the provider unchanged: they are in
the model's messages, which never have a note.
"""

import re
from typing import Final

TAG: Final = "control_note"
_OPENING: Final = f"<{TAG}>\n"
_CLOSING: Final = f"\n</{TAG}>"
_NOT_A_BRACKET: Final = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"

_INVISIBLE = r"\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
_BRACKET = r"[<\ufe64\uff1c]"  # as it is, small, and full width: all three read as the beginning of a tag
_SLASHES = r"/\u2044\u2215\uff0f"
_JOINERS = r"_\-\u2010-\u2015\uff3f"
_WORDS = (f"[{_INVISIBLE}]*+".join(f"[{c}{chr(ord(c) + 0xFEE0)}]" for c in word) for word in TAG.split("_"))
_LOOKS_LIKE_THE_TAG = re.compile(
    rf"{_BRACKET}(?=[\s{_SLASHES}{_INVISIBLE}]*+" + rf"[\s{_JOINERS}{_INVISIBLE}]*+".join(_WORDS) + ")", re.IGNORECASE
)


def marked(text: str) -> str:
    """The text as a note; what looks like the mark in it, such as a quotation, is neutralised."""
    return f"{_OPENING}{neutralised(text).strip()}{_CLOSING}"


def neutralised(text: str) -> str:
    """Material as the model may read it, with nothing that looks like a note of the control.

    Args:
        text: a tool result, a source, a question, an earlier answer.

    Returns:
        The same text, as long as before; U+2039 in place of the bracket of each tag that looks like the mark.
    """
    return _LOOKS_LIKE_THE_TAG.sub(_NOT_A_BRACKET, text)
