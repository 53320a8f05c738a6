"""Where code begins and ends in Markdown, read piece by piece: fences, code spans, and the paragraphs that end spans.

As in CommonMark, as far as a stream needs it: a fence is indented by up to 3 spaces and closed by at least as many of
its characters; a backtick fence's info string has no backtick; a code span is closed by a run of exactly as many
backticks as opened it, in the same paragraph. Not supported: backslash escapes, and fences deeper in lists, which are
read as code spans.

Runs longer than `RUN_CHARS` are read as several, and lines are read up to `LINE_CHARS`, so everything is bounded. While
more text could change an answer, functions with a `TextView` raise `MoreTextNeeded`.
"""

import re
from dataclasses import field

from bt_runtime.text.data import dataclass

from .leaks import LEAK_START
from .markup import START_NAME, WHITE, tidy_end
from .view import MoreTextNeeded, TextView

RUN_CHARS = 1024
LINE_CHARS = 512

# Places where the mode of the reader may change. Each pattern begins with a set of characters, so `re` skips all others
# fast. A match that reaches the end of the text may become longer with the next text. A match that opens or may close
# a fence has group 1 at the end of the marks, and group 2 if it ends where the content of the fence begins.
_MORE = f"{{2,{RUN_CHARS - 1}}}+"
_SIGNAL = f"(?<=<)(?:{START_NAME}|{LEAK_START})"
_FIRST_ON_LINE = r"(?:(?<=[\r\n].)|(?<=[\r\n] .)|(?<=[\r\n]  .)|(?<=[\r\n]   .))"
_INFO = rf"[^`\r\n]{{0,{LINE_CHARS - 1}}}"
_INFO_LINE = rf"[^\r\n]{{0,{LINE_CHARS}}}(?:[\r\n][ \t\r\n]{{0,{LINE_CHARS}}}|\Z)"
_RUNS = (
    rf"{_FIRST_ON_LINE}(?:(?<=`)`{_MORE}(?!{_INFO}`)|(?<=~)~{_MORE})()(?:{_INFO_LINE}())?|"
    rf"(?<=`)`{{0,{RUN_CHARS - 1}}}|{_FIRST_ON_LINE}(?<=~)~?\Z"
)
_OUTSIDE = re.compile(rf"[<`~](?:{_SIGNAL}|{_RUNS})")
_IN_PARAGRAPH = re.compile(rf"[<`~\r\n](?:{_SIGNAL}|(?<=[\r\n])|{_RUNS})")
_IN_FENCE = {
    mark: re.compile(
        rf"[<{mark}](?:{_SIGNAL}|"
        rf"{_FIRST_ON_LINE}(?<={mark}){mark}{{0,{RUN_CHARS - 1}}}+()[ \t]{{0,{LINE_CHARS}}}(?=[\r\n]|\Z))"
    )
    for mark in "`~"
}
_SIGNALS_ALONE = re.compile(rf"<{_SIGNAL}")
_AFTER_FENCE = re.compile(rf"(?=[^{WHITE}])")

# A line that ends a paragraph, from the line break before it: blank, or the start of a list item, a heading or a fence.
_BREAK = r"(?>\r\n|[\r\n])"
_INDENT = rf"[ \t]{{0,{LINE_CHARS - 1}}}+"
_PARAGRAPH_END = {
    whole: re.compile(
        rf"{_BREAK}(?:{_INDENT}(?:[\r\n]{end}|(?:#{{1,6}}|[-*+]|[0-9]{{1,9}}[.)])[ \t])|"
        rf" {{0,3}}(?:~{{3}}|`{{3,{RUN_CHARS}}}+(?!{_INFO}`)))"
    )
    for whole, end in ((True, r"|\Z"), (False, ""))
}
_PARAGRAPH_END_PART = re.compile(
    rf"{_BREAK}(?:{_INDENT}(?:#{{1,6}}|[-*+]|[0-9]{{1,9}}[.)]?)?|"
    rf" {{0,3}}(?:~{{1,2}}|`{{1,2}}|`{{3,{RUN_CHARS - 1}}}+{_INFO}))\Z"
)
_RUN_OR_BREAK = re.compile(rf"`{{1,{RUN_CHARS}}}|[\r\n]")


@dataclass(slots=True)
class CodeContext:
    """Which kind of Markdown code the next character is in.

    A run of backticks opens a code span if one of the same length closes it before the paragraph ends; else it is text,
    and the next run may open one. So `open_runs` are the lengths of the runs that may still have opened a span; a run
    that closes one of them ends everything that began after it.

    Args:
        fence: the run that opened the fence, while one is open.
        open_runs: lengths of the runs of backticks in this paragraph that may have opened a span; none in a fence.
        specials: finds the next place where something may change.
    """

    fence: str = ""
    open_runs: list[int] = field(default_factory=list)
    specials: re.Pattern[str] = _OUTSIDE

    def add_run(self, length: int) -> None:
        """Note a run of backticks that does not open a fence."""
        if length in self.open_runs:
            del self.open_runs[self.open_runs.index(length) :]
        else:
            self.open_runs.append(length)
        self.specials = _IN_PARAGRAPH if self.open_runs else _OUTSIDE

    def end_paragraph(self) -> None:
        """Note the end of a paragraph: runs that are still open were text."""
        self.open_runs.clear()
        self.specials = _OUTSIDE

    def open_fence(self, run: str) -> None:
        """Note the start of a fence, which ends the paragraph."""
        self.open_runs.clear()
        self.fence, self.specials = run, _IN_FENCE[run[0]]

    def close_fence(self) -> None:
        """Note the end of the fence."""
        self.fence, self.specials = "", _OUTSIDE

    def await_text(self) -> None:
        """Make the next text that is not white space special."""
        self.specials = _AFTER_FENCE

    def end_all(self) -> None:
        """Note that the rest has no code: the last fence was never closed, so it is not a fence."""
        self.fence, self.specials = "", _SIGNALS_ALONE


def ends_paragraph(view: TextView, line_break: int) -> bool:
    """Whether the line after a line break is blank or begins a list item, a heading or a fence."""
    if not view.whole and _PARAGRAPH_END_PART.match(view.text, line_break, view.end):
        raise MoreTextNeeded
    return _PARAGRAPH_END[view.whole].match(view.text, line_break, view.end) is not None


def find_span_end(view: TextView, start: int, type_end: int | None, open_runs: list[int]) -> re.Match[str] | None:
    """The run of backticks that makes the signal at `start` an example in a code span.

    A run inside a child element of a tidy signal belongs to the signal, and closes nothing: after a lone backtick,
    `<reason>read x</reason>` with backticks around its x does not make an example of its signal.

    Args:
        view: the text.
        start: the index of the signal's `<` in the text.
        type_end: the result of `markup.find_type`; `None` if it is no signal that begins there.
        open_runs: lengths of the runs before the signal that may have opened a span.

    Returns:
        `None` if the paragraph, the response or the window ends before such a run.
    """
    at = start + 1
    while token := _RUN_OR_BREAK.search(view.text, at, view.end):
        at = token.end()
        if token[0] in "\r\n":
            if ends_paragraph(view, token.start()):
                return None
            continue
        if at == view.end and len(token[0]) < RUN_CHARS:
            view.require_whole()
        if len(token[0]) in open_runs:
            own_end = None if type_end is None else tidy_end(view, type_end)
            if own_end is None or own_end <= token.start():
                return token
            at = own_end
    view.require_whole()
    return None
