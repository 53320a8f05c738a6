"""Whether a response ends with a question to the user: then it is complete, whatever its signal.

Rules, all about the last line of the text:

- It ends with a question mark of any script; further question or exclamation marks may follow.
- After the mark there may be closing quotes, brackets, Markdown emphasis, and symbols such as emoji.
- A line in a code block, in inline code or in a block quotation, or a heading, is not a question to the user.
"""

import re
import unicodedata

_QUESTION_MARKS = "?\uff1f\u061f\u037e\u2047\u2048\u2049"
_EXCLAMATION_MARKS = "!\uff01\u203c"
_CLOSERS = frozenset("\"'\u2019\u201d\u00bb\u203a\u201c\u2018\u300d\u300f)]}\uff09\u3011\u300b*_~")
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}+|~{3,}+)(?P<info>.*)$")
_NO_PROSE = re.compile(r"^ {0,3}(?:#{1,6}(?:\s|$)|>)")
_SYMBOLS = frozenset({"So", "Sk", "Cf", "Mn", "Me"})
"""Unicode categories of emoji, their modifiers and joiners."""


def asks_user(text: str) -> bool:
    """Whether the visible text of a response ends with a question to the user."""
    line = closing_line(text)
    end = len(line)
    while end and (line[end - 1] in _CLOSERS or line[end - 1].isspace() or _is_symbol(line[end - 1])):
        end -= 1
    while end and line[end - 1] in _EXCLAMATION_MARKS:
        end -= 1
    if not end or line[end - 1] not in _QUESTION_MARKS:
        return False
    return line[:end].count("`") % 2 == 0


def closing_line(text: str) -> str:
    """The last line of a text, without white space at its end; empty where that is code, a heading or a quotation."""
    lines = text.rstrip().splitlines()
    if not lines or _ends_in_code(lines) or _NO_PROSE.match(lines[-1]):
        return ""
    return lines[-1].rstrip()


def _is_symbol(character: str) -> bool:
    return character != "`" and unicodedata.category(character) in _SYMBOLS


def _ends_in_code(lines: list[str]) -> bool:
    """Whether the last line belongs to a fenced block, closed or not."""
    fence = ""
    is_code = False
    for line in lines:
        found = _FENCE.match(line)
        is_code = bool(fence or found)
        if found is None:
            continue
        if not fence:
            fence = found["mark"] if found["mark"][0] == "~" or "`" not in found["info"] else ""
            is_code = bool(fence)
        elif found["mark"].startswith(fence) and not found["info"].strip():
            fence = ""
    return is_code
