"""Where code begins and ends in Markdown, read piece by piece: fences, code spans, and the paragraphs that end spans.

As CommonMark has it, as far as a stream needs it: a fence is indented by up to 3 spaces and closed by at least as many
of its characters; a backtick fence's info string has no backtick; a code span is closed by a run of exactly as many
backticks as opened it, in the same paragraph. Not followed: backslash escapes, and fences deeper in lists, which read
as code spans.

Runs longer than `RUN_CHARS` are read as several; lines are looked at for `LINE_CHARS`. So everything is bounded, and an
answer depends on the text alone: while more text could change it, it is `None`.
"""

import re
from dataclasses import dataclass

RUN_CHARS = 1024
LINE_CHARS = 512
NO_CONTENT = -1

_LINE_START = re.compile(r"[\r\n] {0,3}\Z")
_INFO = re.compile(rf"[^`\r\n]{{0,{LINE_CHARS}}}")
_INFO_LINE = re.compile(rf"[^\r\n]{{0,{LINE_CHARS}}}(?:[\r\n][ \t\r\n]{{0,{LINE_CHARS}}}|\Z)")
_BLANKS = re.compile(rf"[ \t]{{0,{LINE_CHARS}}}")
_RUN = re.compile(rf"`{{1,{RUN_CHARS}}}|~{{1,{RUN_CHARS}}}")
_INDENT = re.compile(rf"(?:\r\n|[\r\n])([ \t]{{0,{LINE_CHARS}}})")
_BLOCK_START = re.compile(r"(?:#{1,6}|[-*+]|[0-9]{1,9}[.)])[ \t]")
_BLOCK_START_PART = re.compile(r"#{1,6}|[-*+]|[0-9]{1,9}[.)]?")
_CLOSING_LINES = {
    mark: re.compile(rf"[\r\n] {{0,3}}({mark}{{3,{RUN_CHARS}}})[ \t]{{0,{LINE_CHARS}}}(?=[\r\n]|\Z)") for mark in "`~"
}
_CLOSING_PARTS = {mark: re.compile(rf"[\r\n] {{0,3}}{mark}{{0,{RUN_CHARS}}}[ \t]{{0,{LINE_CHARS}}}") for mark in "`~"}


@dataclass(frozen=True, slots=True)
class Fence:
    """An open fence: its character and how many of them opened it."""

    mark: str
    length: int


def at_line_start(before: str) -> bool:
    """Whether a line's content begins after `before`, of which four characters are enough."""
    return _LINE_START.search(before) is not None


def opens_fence(text: str, run_start: int, run_end: int, *, limit: int, full: bool) -> bool | None:
    """Whether a run of 3 or more marks at the start of a line opens a fence."""
    if text[run_start] == "~":
        return True
    info = _INFO.match(text, run_end, limit)
    end = info.end() if info else run_end
    if end - run_end == LINE_CHARS:
        return True
    if end == limit:
        return True if full else None
    return text[end] != "`"


def closes_fence(text: str, run_end: int, *, full: bool) -> bool | None:
    """Whether nothing but blanks follows a run of marks on its line."""
    blanks = _BLANKS.match(text, run_end)
    end = blanks.end() if blanks else run_end
    if end == len(text):
        return True if full else None
    return text[end] in "\r\n"


def find_fence_end(text: str, fence: Fence, start: int, *, limit: int, ended: bool) -> tuple[int | None, int]:
    """Look for the line that closes `fence` in `text[start:limit]`.

    Args:
        text: the text.
        fence: the open fence.
        start: in the fence, not after the line break that comes before the closing line.
        limit: the end of what may be looked at.
        ended: the text ends at `limit`, so the closing line needs no line break.

    Returns:
        The place after the closing line's marks and blanks (`None`: no such line yet), and from where to look on.
    """
    for line in _CLOSING_LINES[fence.mark].finditer(text, start, limit):
        if len(line[1]) >= fence.length and (line.end() < limit or ended):
            return line.end(), line.end()
    last_break = max(text.rfind("\n", start, limit), text.rfind("\r", start, limit))
    if last_break >= 0 and _CLOSING_PARTS[fence.mark].fullmatch(text, last_break, limit):
        return None, last_break
    return None, max(start, limit)


def fence_content(text: str, run_end: int, *, limit: int, full: bool) -> int | None:
    """The first place in a fence that is no white space; `None` while unknown, `NO_CONTENT` if there is none.

    Args:
        text: the text.
        run_end: after the marks that open the fence.
        limit: the end of what may be looked at.
        full: no more text will come, or the window is full.
    """
    info = _INFO_LINE.match(text, run_end, limit)
    if info is None or info.end() == limit:
        return NO_CONTENT if full or info is None else None
    return info.end()


def ends_paragraph(text: str, line_break: int, *, limit: int, full: bool) -> bool | None:
    """Whether the line after a line break is blank or begins a list item, a heading or a fence."""
    undecided = True if full else None
    indent = _INDENT.match(text, line_break, limit)
    if indent is None or len(indent[1]) == LINE_CHARS:
        return False
    at = indent.end()
    if at == limit:
        return undecided
    if text[at] in "\r\n" or _BLOCK_START.match(text, at, limit):
        return True
    if _BLOCK_START_PART.fullmatch(text, at, limit):
        return None if not full else False
    run = _RUN.match(text, at, limit)
    if run is None or len(indent[1]) > 3 or "\t" in indent[1]:
        return False
    if run.end() == limit and not full and len(run[0]) < RUN_CHARS:
        return None
    return len(run[0]) >= 3 and opens_fence(text, at, run.end(), limit=limit, full=full)
