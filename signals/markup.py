"""Where a signal block begins and ends in text, and what it contains: a small, tolerant, bounded scanner.

No XML parser: what a language model writes has bare `&`, `a < b` and missing ends, and none of that may lose text or
expand without bound. Rules:

- A signal is `<signal`, white space, attributes, one of them `type=`; the names may be in capitals, `<SIGNAL TYPE=`.
  Anything else is text.
- It ends with `</signal>` or `</SIGNAL>`, or with `/>` of its own tag; one in a CDATA section or in a quoted attribute
  value does not count. A quotation mark or `<![CDATA[` without its end protects nothing.
- Nothing is read beyond `WINDOW_CHARS` from the `<`: a block that has not ended by then is unclosed.
- While more text could change an answer, functions with a `TextView` raise `MoreTextNeeded`.
"""

import re
from functools import reduce

from bt_runtime.text.data import dataclass

from .view import TextView

WINDOW_CHARS = 4096
"""How far an unclosed signal reaches, counted from its `<`."""

WHITE = " \t\r\n"


def word_or_part(word: str, after: str) -> str:
    """A pattern for a word before another pattern, or as much of both as there is before the text ends."""
    return reduce(lambda rest, char: rf"(?:{char}{rest}|\Z)", reversed(word), after)


def _name_or_part(before: str, after: str) -> str:
    """A pattern for `signal` or `SIGNAL` between two others, or as much of them as there is before the text ends."""
    return f"(?:{word_or_part(before + 'signal', after)}|{word_or_part(before + 'SIGNAL', after)})"


_W = r"[ \t\r\n]"
_NAME = r"[A-Za-z_:][\w.:\-]*+"
START_NAME = _name_or_part("", rf"(?={_W}|\Z)")
"""What follows a `<` that may begin a signal, also where the text ends before that is certain."""

_ANY_START = re.compile(rf"<(?=(?:signal|SIGNAL)(?:{_W}|\Z))")

_BARE = r"""[^ \t\r\n"'<>=`/]"""
_OTHER_ATTRIBUTES = (
    rf"(?:{_W}*+(?!(?i:type){_W}*+=){_NAME}{_W}*+={_W}*+"
    rf"""(?:"[^"]*+"|'[^']*+'|{_BARE}++(?=[ \t\r\n>/])))*+{_W}*+"""
)
_TYPE = re.compile(rf"<(?:signal|SIGNAL)(?={_W}){_OTHER_ATTRIBUTES}(?i:type){_W}*+=")
_TYPE_PART = re.compile(
    rf"<{START_NAME}{_OTHER_ATTRIBUTES}"
    rf"""(?:{_NAME}{_W}*+(?:={_W}*+(?:"[^"]*+|'[^']*+|{_BARE}*+))?)?\Z"""
)
_ATTRIBUTE = re.compile(rf"""({_NAME}){_W}*+={_W}*+(?:"([^"]*+)"|'([^']*+)'|({_BARE}++))|{_NAME}""")

# A quotation mark ends a value if white space, `/` or `>` follows it; the value before a mark in the middle of words
# has no end. While text may still come a missing end may come too, so `_TAG[False]` and `_BODY[False]` do not match.
_QUOTED = r"""(?:"[^"]*+"|'[^']*+')(?=[ \t\r\n/>])"""
_NOT_QUOTED = {
    True: r"""["']""",
    False: r"""(?:"(?=[^"]*+"[^ \t\r\n/>])|'(?=[^']*+'[^ \t\r\n/>]))""",
}
_CDATA_START = r"<!\[CDATA\["
_CDATA = rf"{_CDATA_START}(?:[^\]]++|\](?!\]>))*+\]\]>"
_END_TAG = rf"</(?:signal|SIGNAL){_W}*+>"
_CHILD_ATTRIBUTE = rf"{_W}++{_NAME}{_W}*+={_W}*+"

# From after `type=`. The value of `type` is one word: a quote that is not closed before `<` or `>` is a slip.
_TAG = {
    whole: re.compile(
        rf"""{_W}*+(?>"[^"<>]*+"|'[^'<>]*+'|["']?)(?:[^>=]++|={_W}*+(?:{_QUOTED}|{not_quoted}|(?!["'])))*+>"""
    )
    for whole, not_quoted in _NOT_QUOTED.items()
}
_BODY = {
    whole: re.compile(
        rf"(?:[^<]++|{_CDATA}|"
        rf"""<{_NAME}(?:{_CHILD_ATTRIBUTE}{_QUOTED})*+(?:{_CHILD_ATTRIBUTE}{not_quoted}|(?!{_CHILD_ATTRIBUTE}["']))|"""
        rf"(?!<[A-Za-z_:]|{_END_TAG}|{'(?!)' if whole else _CDATA_START})<)*+({_END_TAG})"
    )
    for whole, not_quoted in _NOT_QUOTED.items()
}
_ANY_END = re.compile(_END_TAG)
_NEXT_END = re.compile(rf"{_W}*+{_END_TAG}")
_NEXT_END_PART = re.compile(rf"{_W}*+(?:<{_name_or_part('/', _W + '*+')})?\Z")
_CHILD = re.compile(rf"""{_W}*+<({_NAME})(?:{_CHILD_ATTRIBUTE}(?:"[^"]*+"|'[^']*+'))*+{_W}*+(/?)>""")
_CHILD_PART = re.compile(rf"{_W}*+(?:<[^>]*+)?\Z")
_CHILD_END = re.compile(rf"<!\[CDATA\[|</({_NAME}){_W}*+>")


@dataclass(frozen=True, slots=True)
class Child:
    """A child element: its name as written, its undecoded text, and where it ends."""

    name: str
    text: str
    end: int


@dataclass(frozen=True, slots=True)
class Body:
    """The content between the tags of a block.

    Args:
        children: the child elements, in order.
        stray: there is text other than white space between them.
        nested_at: where another signal begins outside of the child elements, which shows that this one was never
            closed; else `None`, and the body was read up to its end.
    """

    children: tuple[Child, ...] = ()
    stray: bool = False
    nested_at: int | None = None


@dataclass(frozen=True, slots=True)
class SignalBlock:
    """A signal block in a text.

    Args:
        start: the index of its `<` in the text.
        body_start: after its start tag; `end` if that is not complete.
        end: after its last character.
        closed: it has its end tag, or needs none.
        body: its content.
    """

    start: int
    body_start: int
    end: int
    closed: bool
    body: Body = Body()

    @property
    def nested(self) -> bool:
        """Whether it was cut short by the start of another signal."""
        return self.body.nested_at is not None


def find_type(view: TextView, start: int) -> int | None:
    """The place after `type=` in the signal tag that begins at `start`; `None` if no signal begins there.

    Raises:
        MoreTextNeeded: more text could change the answer.
    """
    found = _TYPE.match(view.text, start, view.end)
    if found is not None:
        return found.end()
    if _TYPE_PART.match(view.text, start, view.end):
        view.require_whole()
    return None


def is_beginning(text: str, start: int) -> bool:
    """Whether the text ends within what may become a signal tag at `start`, before its `type=`; a bare `<` is text."""
    if len(text) < start + 2 or _TYPE.match(text, start):
        return False
    return _TYPE_PART.match(text, start) is not None


def find_block(view: TextView, start: int, type_end: int) -> SignalBlock:
    """The block that begins at `start`.

    Args:
        view: the text, of which at most `WINDOW_CHARS` from `start` may be read.
        start: the index of the `<` in the text.
        type_end: the result of `find_type`.

    Raises:
        MoreTextNeeded: the end of the block is not known yet.
    """
    text, end = view.text, view.end
    tag = _TAG[view.whole].match(text, type_end, end)
    if tag is not None and text[tag.end() - 2] == "/":
        return SignalBlock(start, tag.end(), tag.end(), closed=True)
    body_start = tag.end() if tag else type_end
    closing = _BODY[view.whole].match(text, body_start, end) if tag and _ANY_END.search(text, body_start, end) else None
    if closing is None:
        view.require_whole(">")
    body = read_body(text, body_start, closing.start(1) if closing else end)
    if body.nested_at is not None:
        return SignalBlock(start, min(body_start, body.nested_at), body.nested_at, closed=False, body=body)
    block_end = closing.end() if closing else _window_end(text, start, end)
    return SignalBlock(start, body_start, block_end, closed=closing is not None, body=body)


def read_body(text: str, start: int, end: int) -> Body:
    """The child elements in `text[start:end]`, up to the start of another signal outside of them."""
    view = TextView(text, end, whole=True)
    children: list[Child] = []
    stray = False
    at = start
    while True:
        angle = text.find("<", at, end)
        if text[at : end if angle < 0 else angle].strip(WHITE):
            stray = True
        if angle < 0:
            return Body(tuple(children), stray)
        if text.startswith("<!--", angle):
            at = _after(view, "-->", angle)
        elif text.startswith("<![CDATA[", angle):
            stray, at = True, _after(view, "]]>", angle)
        elif _TYPE.match(text, angle, min(end, angle + WINDOW_CHARS)):
            return Body(tuple(children), stray, nested_at=angle)
        elif child := _read_child(view, angle):
            children.append(child)
            at = child.end
        else:
            stray, at = True, angle + 1


def as_plain_text(text: str) -> str:
    """Make text safe to quote where only text belongs: no signal can begin in it.

    Returns:
        The same text, as long as before; U+2039 in place of the bracket of each tag that could begin a signal.
    """
    return _ANY_START.sub("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", text)


def tidy_end(view: TextView, type_end: int) -> int | None:
    """The end of a block that has only child elements and white space; `None` if it has anything else or no end.

    Raises:
        MoreTextNeeded: more text could change the answer.
    """
    text, end = view.text, view.end
    tag = _TAG[view.whole].match(text, type_end, end)
    if tag is None:
        view.require_whole()
        return None
    at = tag.end()
    if text[at - 2] == "/":
        return at
    while (closing := _NEXT_END.match(text, at, end)) is None:
        child = _read_child(view, at)
        if child is None:
            if _CHILD.match(text, at, end) or _CHILD_PART.match(text, at, end):
                view.require_whole()
            return None
        at = child.end
    return closing.end()


def skip_ends(view: TextView, at: int, count: int) -> int:
    """The place after up to `count` end tags `</signal>` that follow immediately.

    Raises:
        MoreTextNeeded: another one may follow.
    """
    for _ in range(count):
        closing = _NEXT_END.match(view.text, at, view.end)
        if closing is None:
            if _NEXT_END_PART.match(view.text, at, view.end):
                view.require_whole()
            return at
        at = closing.end()
    return at


def attributes(tag: str) -> dict[str, str]:
    """The attributes of a start tag, undecoded, names in lower case; of two with one name the first counts."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(tag):
        if match[1]:
            found.setdefault(match[1].lower(), match[match.lastindex or 0])
    return found


def _window_end(text: str, start: int, end: int) -> int:
    """Where an unclosed block ends: with the window, but not inside the possible start of another signal."""
    last = text.rfind("<", start + 1, end)
    cut = end - start >= WINDOW_CHARS and last >= 0 and _TYPE_PART.match(text, last, end)
    return last if cut else end


def _read_child(view: TextView, at: int) -> Child | None:
    """The child element that begins at `at` or after white space; `None` if there is none, or it is not closed."""
    text, end = view.text, view.end
    opening = _CHILD.match(text, at, end)
    if opening is None:
        return None
    name, start = opening[1], opening.end()
    if opening[2]:
        return Child(name, "", start)
    if text.find("</" + name, start, end) < 0:
        return None
    at = start
    while token := _CHILD_END.search(text, at, end):
        if token[1] == name:
            return Child(name, text[start : token.start()], token.end())
        at = token.end() if token[1] else _after(view, "]]>", token.start())
    return None


def _after(view: TextView, mark: str, at: int) -> int:
    """The place after the next `mark`; if there is none, the next character."""
    found = view.text.find(mark, at, view.end)
    if found < 0:
        view.require_whole()
        return at + 1
    return found + len(mark)
