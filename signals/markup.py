"""Where a signal block begins and ends in text, and what stands in it: a small, tolerant, bounded scanner.

No XML parser: what a language model writes has bare `&`, `a < b` and missing ends, and none of that may lose text or
expand without bound. Rules:

- A signal is `<signal`, white space, attributes, one of them `type=`; the names may be in capitals, `<SIGNAL TYPE=`
  (decision 16). Everything else is text.
- It ends with `</signal>` or `</SIGNAL>`, or with `/>` of its own tag; one that stands in a CDATA section or in a
  quoted attribute value does not count.
- Nothing is looked at beyond `WINDOW_CHARS` from the `<`: a block that has not ended there is unclosed (decision 17).
- What is found depends on the text alone, not on how much of it was there when somebody asked: while more text could
  change an answer, it is `None` ("ask again with more"). `full` says that no more can come: the response has ended
  or the window is full.
"""

import re
from dataclasses import dataclass

WINDOW_CHARS = 4096
"""How far an unclosed signal reaches, counted from its `<`."""

WHITE = " \t\r\n"
NOT_A_SIGNAL = -1
UNCLOSED = -1
_NO_QUOTE = -1

_OPENINGS = ("<signal", "<SIGNAL")
_ENDINGS = ("</signal", "</SIGNAL")

# `<signal` and white space, or the end of the text in the middle of that.
_START_NAME = r"s(?:i(?:g(?:n(?:a(?:l(?:[ \t\r\n]|\Z)|\Z)|\Z)|\Z)|\Z)|\Z)"
_START_NAME_IN_CAPITALS = r"S(?:I(?:G(?:N(?:A(?:L(?:[ \t\r\n]|\Z)|\Z)|\Z)|\Z)|\Z)|\Z)"
SIGNAL_START = rf"<(?={_START_NAME}|{_START_NAME_IN_CAPITALS}|\Z)"

_ANY_START = re.compile(r"<(?=(?:signal|SIGNAL)(?:[ \t\r\n]|\Z))")

_NAME = r"[A-Za-z_:][\w.:\-]*"
_ATTRIBUTE_NAME = re.compile(rf"[ \t\r\n]*({_NAME})[ \t\r\n]*=")
_ATTRIBUTE_NAME_PART = re.compile(rf"[ \t\r\n]*(?:{_NAME}[ \t\r\n]*)?")
_ATTRIBUTE_VALUE = re.compile(r"""[ \t\r\n]*(?:"[^"]*"|'[^']*'|[^ \t\r\n"'<>=`/]+(?=[ \t\r\n>/]))""")
_ATTRIBUTE_VALUE_PART = re.compile(r"""[ \t\r\n]*(?:"[^"]*|'[^']*|[^ \t\r\n"'<>=`/]*)""")
_ATTRIBUTE_QUOTE = re.compile(rf"""[ \t\r\n]*{_NAME}[ \t\r\n]*=[ \t\r\n]*["']""")
_ATTRIBUTE = re.compile(rf"""({_NAME})[ \t\r\n]*=[ \t\r\n]*(?:"([^"]*)"|'([^']*)'|([^ \t\r\n"'<>=`/]+))""")

# The value of `type` is one word: a quote that is not closed before `<` or `>` is a slip, and protects nothing.
_TYPE_VALUE = re.compile(r"""[ \t\r\n]*(?:"[^"<>]*"|'[^'<>]*')""")
_TYPE_VALUE_PART = re.compile(r"""[ \t\r\n]*(?:"[^"<>]*|'[^'<>]*)?""")
_TYPE_SLIP = re.compile(r"""[ \t\r\n]*["']?""")

_TAG_TOKEN = re.compile(r"""=[ \t\r\n]*(["'])|>""")
_BODY_TOKEN = re.compile(
    r"(?P<cdata><!\[CDATA\[)|(?P<close></(?:signal|SIGNAL)[ \t\r\n]*>)|"
    rf"""(?P<quote><{_NAME}[ \t\r\n]+{_NAME}[ \t\r\n]*=[ \t\r\n]*["'])"""
)
_CLOSE = re.compile(r"</(?:signal|SIGNAL)[ \t\r\n]*>")
_SIGNAL_END = re.compile(r"[ \t\r\n]*</(?:signal|SIGNAL)[ \t\r\n]*>")
_CHILD = re.compile(rf"""<({_NAME})(?:[ \t\r\n]+{_NAME}[ \t\r\n]*=[ \t\r\n]*(?:"[^"]*"|'[^']*'))*[ \t\r\n]*(/?)>""")
_CHILD_END = re.compile(rf"<!\[CDATA\[|</({_NAME})[ \t\r\n]*>")
_TAG_PART = re.compile(r"[ \t\r\n]*(?:<[^>]*)?")
_WHITE_RUN = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Child:
    """A child element: its name as written, its undecoded text, and where it ends."""

    name: str
    text: str
    end: int


@dataclass(frozen=True, slots=True)
class Body:
    """What stands between the tags of a block.

    Args:
        children: the child elements, in order.
        stray: other text than white space stands between them.
        nested_at: where another signal begins that no child element encloses, so that this one was never closed; else
            `None`, and then everything up to the end was read.
    """

    children: tuple[Child, ...]
    stray: bool
    nested_at: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A signal block in a text.

    Args:
        start: of its `<`.
        body_start: after its start tag; `end` if that is not complete.
        end: after its last character.
        closed: it has its end tag, or needs none.
        nested: it was cut short by the start of another signal.
        body: what stands in it.
    """

    start: int
    body_start: int
    end: int
    closed: bool
    nested: bool
    body: Body


def find_type(text: str, start: int, *, limit: int, full: bool) -> int | None:
    """The place after `type=` in the tag that begins at `start` with `<signal`, or `NOT_A_SIGNAL`.

    Args:
        text: the text.
        start: of the `<`.
        limit: the end of what may be looked at.
        full: no more text will come, or the window is full.
    """
    undecided = NOT_A_SIGNAL if full else None
    if limit - start < len("<signal "):
        return undecided
    at = start + len("<signal")
    while True:
        name = _ATTRIBUTE_NAME.match(text, at, limit)
        if name is None:
            return undecided if _ATTRIBUTE_NAME_PART.fullmatch(text, at, limit) else NOT_A_SIGNAL
        if name[1].lower() == "type":
            return name.end()
        value = _ATTRIBUTE_VALUE.match(text, name.end(), limit)
        if value is None:
            return undecided if _ATTRIBUTE_VALUE_PART.fullmatch(text, name.end(), limit) else NOT_A_SIGNAL
        at = value.end()


def find_block(text: str, start: int, type_end: int, *, limit: int, full: bool) -> Block | None:
    """The block that begins at `start`; `None` while its end is not known.

    Args:
        text: the text.
        start: of the `<`.
        type_end: what `find_type` answered.
        limit: the end of what may be looked at, at most `WINDOW_CHARS` from `start`.
        full: no more text will come, or the window is full.
    """
    body_start = _tag_end(text, type_end, limit, full=full)
    if body_start is None:
        return None
    end: int | None
    if body_start == UNCLOSED:
        body_start, end = type_end, UNCLOSED
    elif text[body_start - 2] == "/":
        return Block(start, body_start, body_start, closed=True, nested=False, body=Body((), stray=False))
    else:
        end = _body_end(text, body_start, limit, full=full)
        if end is None:
            return None
    closed = end != UNCLOSED
    body_end = text.rindex("</", body_start, end) if closed else limit
    body = read_body(text, body_start, body_end)
    if body.nested_at is not None:
        return Block(start, min(body_start, body.nested_at), body.nested_at, closed=False, nested=True, body=body)
    if not closed:
        end = _window_end(text, start, limit)
    return Block(start, body_start, end, closed=closed, nested=False, body=body)


def read_body(text: str, start: int, end: int) -> Body:
    """The child elements in `text[start:end]`, up to the start of another signal outside of them."""
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
            at = _after(text, "-->", angle, end)
            continue
        if text.startswith("<![CDATA[", angle):
            stray, at = True, _after(text, "]]>", angle, end)
            continue
        if begins_signal(text, angle, end):
            return Body(tuple(children), stray, nested_at=angle)
        child = _read_child(text, angle, end)
        if child is None:
            stray, at = True, angle + 1
        else:
            children.append(child)
            at = child.end


def as_plain_text(text: str) -> str:
    """Text that is quoted where only text belongs: no signal can begin in it.

    Returns:
        The same text, as long as before; U+2039 in place of the bracket of each tag that could begin a signal.
    """
    return _ANY_START.sub("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", text)


def begins_signal(text: str, at: int, end: int) -> bool:
    """Whether a signal begins at `at`, as far as `end` shows."""
    if not text.startswith(_OPENINGS, at) or text[at + 7 : at + 8] not in WHITE:
        return False
    return find_type(text, at, limit=min(end, at + WINDOW_CHARS), full=True) != NOT_A_SIGNAL


def strict_end(text: str, type_end: int, *, limit: int, full: bool) -> int | None:
    """The end of a block that has only child elements and white space, else `UNCLOSED`; `None` while unknown."""
    at = _tag_end(text, type_end, limit, full=full)
    if at is None or at == UNCLOSED:
        return at
    undecided = UNCLOSED if full else None
    if text[at - 2] == "/":
        return at
    while True:
        end = _SIGNAL_END.match(text, at, limit)
        if end is not None:
            return end.end()
        white = _WHITE_RUN.match(text, at, limit)
        at = white.end() if white else at
        opening = _CHILD.match(text, at, limit)
        if opening is None:
            return undecided if _TAG_PART.fullmatch(text, at, limit) else UNCLOSED
        child = _read_child(text, at, limit)
        if child is None:
            return undecided
        at = child.end


def skip_ends(text: str, at: int, count: int, *, limit: int, full: bool) -> int | None:
    """The place after up to `count` end tags `</signal>` that follow at once; `None` while that is not known."""
    for _ in range(count):
        end = _SIGNAL_END.match(text, at, limit)
        if end is None:
            white = _WHITE_RUN.match(text, at, limit)
            rest = text[white.end() if white else at : limit]
            may_follow = any(each.startswith(rest[:8]) for each in _ENDINGS) and not rest[8:].strip(WHITE)
            return None if may_follow and not full else at
        at = end.end()
    return at


def attributes(tag: str) -> dict[str, str]:
    """The attributes of a start tag, undecoded, names in lower case; of two with one name the first counts."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(tag):
        name, double, single, bare = match.groups()
        found.setdefault(name.lower(), next(value for value in (double, single, bare) if value is not None))
    return found


def _window_end(text: str, start: int, limit: int) -> int:
    """Where an unclosed block ends: with the window, but not within what may be the start of another signal."""
    last = text.rfind("<", start + 1, limit)
    if limit - start < WINDOW_CHARS or last < 0:
        return limit
    part = text[last : min(limit, last + 8)]
    if any(part == each[: len(part)] for each in _OPENINGS):
        return last
    if part[:7] in _OPENINGS and part[7] in WHITE and find_type(text, last, limit=limit, full=False) is None:
        return last
    return limit


def _tag_end(text: str, at: int, limit: int, *, full: bool) -> int | None:
    """The place after the `>` of a start tag, from after its `type=`."""
    value = _TYPE_VALUE.match(text, at, limit)
    if value is None:
        if not full and _TYPE_VALUE_PART.fullmatch(text, at, limit):
            return None
        value = _TYPE_SLIP.match(text, at, limit)
    at = value.end() if value else at
    if text.find(">", at, limit) < 0:
        return UNCLOSED if full else None
    while token := _TAG_TOKEN.search(text, at, limit):
        if token[1] is None:
            return token.end()
        end = _quote_end(text, token.end(), token[1], limit, full=full)
        if end is None:
            return None
        at = token.end() if end == _NO_QUOTE else end
    return UNCLOSED if full else None


def _body_end(text: str, start: int, limit: int, *, full: bool) -> int | None:
    """The place after the `</signal>` that ends a block whose start tag ends at `start`."""
    undecided = UNCLOSED if full else None
    if _CLOSE.search(text, start, limit) is None:
        return undecided
    at = start
    while token := _BODY_TOKEN.search(text, at, limit):
        if token.lastgroup == "close":
            return token.end()
        if token.lastgroup == "cdata":
            end: int | None = text.find("]]>", token.end(), limit)
            end = end + 3 if end is not None and end >= 0 else (token.end() if full else None)
        else:
            end = _quotes_end(text, token.end(), limit, full=full)
        if end is None:
            return None
        at = end
    return undecided


def _quotes_end(text: str, at: int, limit: int, *, full: bool) -> int | None:
    """The place after the quoted values of a child's start tag; `at` is after the first quotation mark."""
    while True:
        end = _quote_end(text, at, text[at - 1], limit, full=full)
        if end is None:
            return None
        if end == _NO_QUOTE:
            return at
        further = _ATTRIBUTE_QUOTE.match(text, end, limit)
        if further is None:
            return end
        at = further.end()


def _quote_end(text: str, at: int, mark: str, limit: int, *, full: bool) -> int | None:
    """The place after the quotation mark that ends a value; a mark in the middle of words ends none."""
    end = text.find(mark, at, limit)
    if end < 0 or end + 1 == limit:
        return _NO_QUOTE if full else None
    return end + 1 if text[end + 1] in " \t\r\n/>" else _NO_QUOTE


def _read_child(text: str, at: int, end: int) -> Child | None:
    """The child element that begins at `at`; `None` if there is none, or it is not closed."""
    opening = _CHILD.match(text, at, end)
    if opening is None:
        return None
    name = opening[1]
    if opening[2]:
        return Child(name, "", opening.end())
    start = at = opening.end()
    if text.find("</" + name, at, end) < 0:
        return None
    while token := _CHILD_END.search(text, at, end):
        if token[1] == name:
            return Child(name, text[start : token.start()], token.end())
        at = token.end() if token[1] else _after(text, "]]>", token.start(), end)
    return None


def _after(text: str, mark: str, at: int, end: int) -> int:
    """The place after the next `mark`; if there is none, one character on."""
    found = text.find(mark, at, end)
    return at + 1 if found < 0 else found + len(mark)
