"""Chooses the lines to show around a hit, so that they can be understood on their own.

Rules:

- A hit on a definition begins with its decorators and comments and continues into its body; so does one on any line
  that heads a block, such as `except`.
- A hit inside a docstring begins with the documented definition if that is near, else with its own paragraph; a hit
  inside a statement of several lines begins with the statement.
- In data files the extract is one record (a line).
- In prose the extract is the paragraph, the list item or the section under the heading.
- The extract ends at the end of the unit, else at the end of a paragraph, else at the maximum length.
- A fenced block of Markdown, also in a docstring, is in the extract whole or not at all; of one that has the hit and is
  too long, lines between its fences are shown.

Nothing is parsed: the rules rely on indentation, and are harmless in languages without it.
"""

import re
from collections.abc import Iterator, Sequence

from oracle.tools.code_kinds import PROSE, extension, kind_of

MAX_LINES = 16
MAX_LINES_BEFORE = 11
"""Keeps the beginning of the extract close to the hit."""
_MAX_ATTACHED = 4
_NEAR_LINES = 5
_NEAR_HEAD = 8
_NEAR_ROWS = 2
_ENOUGH_PROSE = 5
_LINE_CHARS = 500
_MAX_SCANNED = 2_000
_HEADED_LINES = 6
_MAX_MEMBERS = 40
DEFINITION = re.compile(
    r"^\s*(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|sealed|partial|override|open"
    r"|inline|virtual|extern|unsafe|pub|pub\(\w+\)|declare|data)\s+)*"
    r"(?:def|class|function\*?|func|fn|fun|type|interface|struct|enum|union|trait|impl|module|namespace|package|record"
    r"|protocol|object|macro|sub|proc|create table|const|let|var|val)\s+"
    r"(?:\([^()]{0,80}\)\s*)?(?P<name>[\w$.]+)",
    re.IGNORECASE,
)
_ATTACHED = re.compile(r"^\s*(?:@[\w.]|#\[|//|#(?!#* )\s?\w|\*|/\*\*)")
_HEADING = re.compile(r"^#{1,6}\s")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})([^`]{0,200})$")
_TRIPLE = re.compile(r'"""|\'\'\'')
_PASSING_ON = re.compile(
    r"\s*(?:from\s+\S+\s+import\b|import\b|export\s*(?:\*|\{)|#include\b|using\b|use\s+[\w:]|require\b|__all__\b)"
)
_OPENERS, _CLOSERS = "([{", ")]}"


def extract_range(lines: Sequence[str], hit: int, *, path: str) -> tuple[int, int]:
    """The lines to show around a hit.

    Args:
        lines: all lines of the file, without line ends.
        hit: the index of the line that was found.
        path: of the file; its extension distinguishes prose from code.

    Returns:
        The index of the first line and of the one after the last. `hit` is between them, at most `MAX_LINES_BEFORE`
        lines after the first; there are at most `MAX_LINES`.
    """
    if kind_of(path) == "data":
        start, end = hit, hit + 1  # a record; those around it are others
    elif extension(path) in PROSE:
        start, end = _prose(lines, hit)
    else:
        start = _code_start(lines, hit)
        headed = max(_block(lines, hit, most=_HEADED_LINES), default=hit) + 1
        end = max(_code_end(lines, start, hit), headed)
        start = max(start, headed - MAX_LINES)
    start = max(start, hit - MAX_LINES_BEFORE)
    end = max(min(end, start + MAX_LINES), hit + 1)
    for fence in _fences(lines[: start + 2 * MAX_LINES]):
        start, end = _without_part(fence, start, end, hit=hit)
    while start < hit and not lines[start].strip():
        start += 1
    while end > hit + 1 and not lines[end - 1].strip():
        end -= 1
    return start, end


def _fences(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each fenced block; one that is not closed ends with the lines."""
    opened: tuple[int, str] | None = None
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if found is None:
            continue
        if opened is None:
            opened = number, found[1]
        elif found[1].startswith(opened[1]) and not found[2].strip():
            yield opened[0], number
            opened = None
    if opened is not None:
        yield opened[0], len(lines) - 1


def _without_part(fence: tuple[int, int], start: int, end: int, *, hit: int) -> tuple[int, int]:
    """A range of lines that has a fenced block whole, or not at all, or lines between its fences."""
    first, last = fence
    if end <= first or last < start or (start <= first and last < end):
        return start, end
    if last < hit:
        return last + 1, end
    if last - min(start, first) < MAX_LINES and hit - first <= MAX_LINES_BEFORE:
        return min(start, first), last + 1
    if hit < first:
        return start, first
    if last - first < MAX_LINES and hit - first <= MAX_LINES_BEFORE:
        return first, last + 1
    return max(start, min(first + 1, hit)), min(end, max(last, hit + 1))


def passing_mentions(lines: Sequence[str]) -> frozenset[int]:
    """The indices of lines that only re-export or import names."""
    found: set[int] = set()
    closer = ""
    for number, line in enumerate(lines):
        if closer:
            found.add(number)
            closer = "" if closer in line else closer
        elif _PASSING_ON.match(line):
            found.add(number)
            head = line[:_LINE_CHARS]
            closer = next((pair[1] for pair in ("()", "{}", "[]") if head.count(pair[0]) > head.count(pair[1])), "")
    return frozenset(found)


def _prose(lines: Sequence[str], hit: int) -> tuple[int, int]:
    if lines[hit].lstrip().startswith("|"):
        return max(hit - _NEAR_ROWS, 0), min(hit + _NEAR_ROWS + 1, len(lines))  # rows of a table
    start = hit
    while start > 0 and lines[start].strip() and not (_HEADING.match(lines[start]) or _ITEM.match(lines[start])):
        if not lines[start - 1].strip() or hit - start >= MAX_LINES_BEFORE:
            break
        start -= 1
    if start >= 2 and not lines[start - 1].strip() and _HEADING.match(lines[start - 2]):
        start -= 2  # include the heading of the section
    end = hit + 1
    while end < len(lines) and end - start < MAX_LINES and not (_HEADING.match(lines[end]) and end > hit):
        if end - start >= _ENOUGH_PROSE and (not lines[end].strip() or _ITEM.match(lines[end])):
            break
        end += 1
    if end < len(lines) and end - start >= MAX_LINES:  # end at a paragraph if possible
        last_blank = next((at for at in range(end - 1, hit, -1) if not lines[at].strip()), end)
        end = last_blank if last_blank - start >= 3 else end
    return start, end


def _code_start(lines: Sequence[str], hit: int) -> int:
    if not DEFINITION.match(lines[hit]):
        opening = _string_start(lines, hit)
        if opening is not None:
            return _documented(lines, opening, hit)
        hit = _statement_start(lines, hit)
        owner = _owner(lines, hit)
        return _with_attached(lines, owner) if owner is not None else _block_start(lines, hit)
    return _with_attached(lines, hit)


def _documented(lines: Sequence[str], opening: int, hit: int) -> int:
    """The first line to show for a hit in a string that opens at `opening`."""
    owner = _owner(lines, opening) if opening and lines[opening - 1].strip() else None
    start = opening if owner is None or opening - owner > _NEAR_HEAD else _with_attached(lines, owner)
    if hit - start <= MAX_LINES_BEFORE:
        return start
    paragraph = hit
    while paragraph > opening and lines[paragraph - 1].strip():
        paragraph -= 1
    return paragraph


def _string_start(lines: Sequence[str], hit: int) -> int | None:
    """The first line of the triple-quoted string around the hit; `None` if there is none."""
    opened: tuple[str, int] | None = None
    for number in range(max(0, hit - _MAX_SCANNED), hit + 1):
        if number == hit and opened is not None:
            return opened[1]
        for found in _TRIPLE.finditer(lines[number]):
            if opened is None:
                opened = (found[0], number)
            elif opened[0] == found[0]:
                opened = None
        if number == hit and (opened is not None or _TRIPLE.search(lines[hit])):
            return hit
    return None


def _statement_start(lines: Sequence[str], hit: int) -> int:
    """The first line of the statement, determined by the brackets that are open at the hit."""
    start, depth, deepest = hit, 0, 0
    for number in range(hit - 1, max(-1, hit - MAX_LINES_BEFORE - 1), -1):
        line = lines[number][:_LINE_CHARS]
        depth += sum(map(line.count, _OPENERS)) - sum(map(line.count, _CLOSERS))
        if depth > deepest:
            start, deepest = number, depth
    return start


def _owner(lines: Sequence[str], at: int) -> int | None:
    """The definition that the line belongs to, if it is near enough to be shown."""
    inner = _indent(lines[at])
    for number in range(at - 1, max(-1, at - MAX_LINES_BEFORE), -1):
        line = lines[number]
        if line.strip() and _indent(line) < inner:
            if DEFINITION.match(line):
                return number
            # `) -> int:` closes a signature that begins at the same indentation
            inner = _indent(line) + (line.lstrip()[:1] in _CLOSERS)
    return None


def _block_start(lines: Sequence[str], at: int) -> int:
    """The first line to show for a line inside a long unit: the line that opens its block, or a few lines above."""
    if _indent(lines[at]) == 0:
        return _with_attached(lines, at)
    start = at
    while start > max(0, at - _NEAR_LINES) and lines[start - 1].strip():
        start -= 1
        if _indent(lines[start]) < _indent(lines[at]):
            break
    return start


def _with_attached(lines: Sequence[str], at: int) -> int:
    """The first of the decorators and comments directly above the line, or the line itself."""
    start = at
    while start > max(0, at - _MAX_ATTACHED) and _ATTACHED.match(lines[start - 1]):
        if _indent(lines[start - 1]) != _indent(lines[at]):
            break
        start -= 1
    return start


def _code_end(lines: Sequence[str], start: int, hit: int) -> int:
    base = _indent(lines[start])
    end = hit + 1
    limit = min(len(lines), start + MAX_LINES)
    in_string = _string_start(lines, end - 1) is not None and len(_TRIPLE.findall(lines[hit])) < 2
    is_string_alone = _TRIPLE.match(lines[start].lstrip("rRbBfF")) is not None and base == 0
    while end < limit:
        line = lines[end]
        if is_string_alone and not in_string:
            break
        if not in_string and line.strip() and _ends_unit(lines, end, base=base, start=start):
            break
        if len(_TRIPLE.findall(line)) % 2:
            in_string = not in_string
        end += 1
    if end == limit and end < len(lines):
        breaks = [at for at in range(end - 1, hit, -1) if not lines[at].strip()]
        if breaks and breaks[0] - start >= MAX_LINES // 2:
            end = breaks[0]
    return end


def members(lines: Sequence[str], head: int) -> list[int]:
    """The indices of the definitions directly inside the one that begins at `head`, such as the methods of a class."""
    found = [at for at in body(lines, head) if DEFINITION.match(lines[at])]
    return [at for at in found if _indent(lines[at]) == _indent(lines[found[0]])][:_MAX_MEMBERS]


def body(lines: Sequence[str], head: int) -> Iterator[int]:
    """The indices of the lines, blank ones excepted, inside the definition that begins at `head`; none elsewhere."""
    return _block(lines, head, most=_MAX_SCANNED if DEFINITION.match(lines[head]) else 0)


def _block(lines: Sequence[str], head: int, *, most: int) -> Iterator[int]:
    """The indices of the lines, blank ones excepted, of the block that a line heads, among the next `most` lines."""
    for at in range(head + 1, min(head + 1 + most, len(lines))):
        if lines[at].strip():
            if _indent(lines[at]) <= _indent(lines[head]) and lines[at].lstrip()[0] not in _CLOSERS:
                return
            yield at


def _ends_unit(lines: Sequence[str], at: int, *, base: int, start: int) -> bool:
    """Whether another unit begins here: a line indented no deeper than the extract's first line, after a blank line."""
    line, indent = lines[at], _indent(lines[at])
    if indent < base and line.lstrip()[:1] not in _CLOSERS:
        return True
    if indent > base or at - start < 2:
        return False
    is_apart = not lines[at - 1].strip()
    return is_apart and (bool(DEFINITION.match(line) or _ATTACHED.match(line)) or bool(DEFINITION.match(lines[start])))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
