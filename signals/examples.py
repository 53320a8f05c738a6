"""Whether a signal that begins in a code span is an example (decision 16).

The span's opening backticks were shown before anyone could know whether they would be closed. `OpenRuns` keeps the
lengths of the runs that still may open a span; `find_span_end` looks for the run that closes one of them.
"""

import re

from .markdown import RUN_CHARS, ends_paragraph
from .markup import UNCLOSED, strict_end

NO_SPAN = -1

_RUN_OR_BREAK = re.compile(rf"`{{1,{RUN_CHARS}}}|[\r\n]")


class OpenRuns:
    """Runs of backticks in the current paragraph that a later run of the same length would make a code span.

    The first one opens a span if it is ever closed; else it is text, and the second one opens a span if it is ever
    closed; and so on. A run that closes one of them ends everything that began after it.
    """

    __slots__ = ("_lengths",)

    def __init__(self) -> None:
        self._lengths: list[int] = []

    def __bool__(self) -> bool:
        return bool(self._lengths)

    def __contains__(self, length: int) -> bool:
        return length in self._lengths

    def meet(self, length: int) -> None:
        """A run of this length comes next."""
        if length in self._lengths:
            del self._lengths[self._lengths.index(length) :]
        else:
            self._lengths.append(length)

    def clear(self) -> None:
        """The paragraph is over: what is still open was text."""
        self._lengths.clear()


def find_span_end(
    text: str, start: int, type_end: int, open_runs: OpenRuns, *, limit: int, full: bool
) -> tuple[int, int] | None:
    """Where the run lies that makes the signal at `start` an example: its start and end.

    A run inside a child element of a tidy signal is the signal's own, and closes nothing:
    after a lone backtick, `<reason>read x</reason>` with backticks around its x does not make an example of its signal.

    Args:
        text: the text.
        start: of the signal's `<`.
        type_end: what `markup.find_type` answered.
        open_runs: the runs before the signal.
        limit: the end of what may be looked at.
        full: no more text will come, or the window is full.

    Returns:
        `None` while undecided; `(NO_SPAN, NO_SPAN)` if the paragraph, the response or the window ends before.
    """
    at = start + 1
    while token := _RUN_OR_BREAK.search(text, at, limit):
        if token[0] in "\r\n":
            ends = ends_paragraph(text, token.start(), limit=limit, full=full)
            if ends is None:
                return None
            if ends:
                return NO_SPAN, NO_SPAN
        elif token.end() == limit and not full and len(token[0]) < RUN_CHARS:
            return None
        elif len(token[0]) in open_runs:
            own_end = strict_end(text, type_end, limit=limit, full=full)
            if own_end is None:
                return None
            if own_end == UNCLOSED or own_end <= token.start():
                return token.span()
            at = own_end
            continue
        at = token.end()
    return (NO_SPAN, NO_SPAN) if full else None
