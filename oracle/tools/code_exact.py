"""Finds every line that contains a text or matches a regular expression, and counts them.

Of few, each is shown with the lines around it: the value of a setting stands on the line after its name.

A regular expression is matched by the Rust crate `regex` in jsonschema-rs, which has no look-around and no back
references: whatever the expression, a match takes time proportional to the product of its size and the line's length.
Both are bounded, because a match blocks all other threads.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Literal

from oracle.core.chunks import Source
from oracle.core.search.query import MAX_QUERY_CHARS
from oracle.tools.code_extract import extract_range
from oracle.tools.errors import ToolError
from oracle.tools.protocol import ToolResult
from oracle.tools.text import CONTEXT_CHARS, LINE_CHARS, LINES_FOUND_CHARS, Decoded, cut_line, numbered, shorten

Mode = Literal["words", "exact", "regex"]
_REGEX_BYTES = 200_000
"""Of a compiled expression: a line of `LINE_CHARS` takes 40 ms at most."""
_DFA_BYTES = 1_000_000
_MOST_PARTS = 6
FEW = 8
"""Up to this many matching lines are each shown with the lines around it, as far as `LINES_FOUND_CHARS` allow."""
Texts = Iterable[tuple[str, Decoded]]


def find_lines(
    query: str, files: Texts, *, mode: Mode, filters: str, shown: range, deadline: float, notes: list[str]
) -> ToolResult:
    """Find the lines of files, count them, and show some, as many as `LINES_FOUND_CHARS` allow.

    Args:
        query: a literal text, in which case counts, or a regular expression.
        files: their paths and texts, in the order in which their lines are counted.
        mode: `exact` or `regex`.
        filters: the arguments that chose the files, as in `, path='src'`; the result repeats them.
        shown: the indices of the matching lines to show.
        deadline: on the monotonic clock; what has been found by then is shown.
        notes: shown at the end.

    Raises:
        ToolError: the query is no expression, or there are no lines at the indices.
    """
    matches = _line_test(query, mode=mode)
    found: list[tuple[str, int, str]] = []
    texts: dict[str, list[str]] = {}
    parts = Counter[str]()
    total = chars = 0
    all_lines = ((path, text.lines) for path, text in files)
    for path, lines, number, line in ((*file, *each) for file in all_lines for each in enumerate(file[1], start=1)):
        if time.monotonic() > deadline:
            notes = [*notes, "[The time was up before all files were searched; narrow by path.]"]
            break
        if matches(line):
            if total in shown and chars < LINES_FOUND_CHARS:
                found.append((path, number, cut_line(line, limit=CONTEXT_CHARS)))
                chars += len(path) + len(found[-1][2])
                if total < FEW:
                    texts[path] = lines
            parts[path.partition("/")[0]] += 1
            total += 1
    what = f"{cut_line(query, limit=120)!r}, mode={mode!r}{filters}"
    if not total:
        advice = "Upper and lower case differ here; mode='words' finds the best places by words."
        return ToolResult("\n".join([f"No line of the code has {what}. {advice}", *notes]), is_empty=True)
    if not found:
        raise ToolError(f"skip is {shown.start:,}, but only {total:,} lines have {what}; give less.")
    last = shown.start + len(found)
    of = len(found) if len(found) == total else f"{shown.start + 1}-{last}"
    rest = f"; go on with skip={last}" if last < total else ""
    counts = ", ".join(f"{count:,} in {part}" for part, count in parts.most_common(_MOST_PARTS))
    places = f" ({counts}{', …' * (len(parts) > _MOST_PARTS)})" if len(parts) > 1 else ""
    blocks = [f"Lines with {what}: {of} of {total:,}{places}{rest}."]
    sources: list[Source] = []
    for path, group in groupby(found, key=lambda each: each[0]):
        hits = {number: line for _, number, line in group}
        around = _around(hits, texts[path], path=path) if total <= FEW else {}
        chars += sum(map(len, around.values()))
        if chars > LINES_FOUND_CHARS:
            around = {}
        blocks.append("\n".join([path, *numbered(sorted((around | hits).items()), marked=hits if around else ())]))
        sources.append(Source(path, "code", min(hits), shorten(hits[min(hits)])))
    return ToolResult("\n".join(["\n\n".join(blocks), *notes]), sources=tuple(sources))


def _around(hits: Iterable[int], lines: Sequence[str], *, path: str) -> dict[int, str]:
    """The lines of a file around some of them, and those themselves, by their numbers."""
    ranges = (extract_range(lines, number - 1, path=path) for number in hits)
    return {at + 1: cut_line(lines[at], limit=CONTEXT_CHARS) for start, end in ranges for at in range(start, end)}


def _line_test(query: str, *, mode: Mode) -> Callable[[str], bool]:
    """A predicate for lines; a regular expression sees the first `LINE_CHARS` characters of each."""
    if len(query) > MAX_QUERY_CHARS or "\n" in query:
        given = f"{len(query):,} characters and {query.count(chr(10)):,} line breaks"
        raise ToolError(f"query has {given}; mode {mode!r} takes one line of at most {MAX_QUERY_CHARS:,} characters.")
    if mode == "exact":
        return lambda line: query in line
    from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError  # noqa: PLC0415  takes 15 MB

    options = RegexOptions(size_limit=_REGEX_BYTES, dfa_size_limit=_DFA_BYTES)
    try:
        is_match = Draft202012Validator({"pattern": query}, pattern_options=options).is_valid
    except ValidationError:
        raise ToolError(
            f"query {shorten(query, limit=120)!r} cannot be used as a regular expression: it is malformed or too "
            "large, or has look-around or back references. For literal text use mode='exact'."
        ) from None
    return lambda line: is_match(line[:LINE_CHARS])
