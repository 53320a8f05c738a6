"""The view of a query at a terminal.

Finished text and calls stand above, the current block or running calls below. The answer's Markdown is
rendered block by block. A finished block is written once and never drawn again, so a long answer scrolls like any
output. Only the live part at the end of the screen is redrawn: the last lines of the unfinished block, or the running
calls. It is removed before anything else is written.
"""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from oracle.cli.blocks import BlockReader, TextBlock
from oracle.cli.people import asked_line, decided_line
from oracle.cli.streams import SafeStream
from oracle.cli.text import call_label, clean
from oracle.cli.views import Clock, QueryView, ending, finished_call, source_labels
from oracle.core import chunks
from oracle.core.logs import is_interactive, wants_colour

AMBER: Final = "#ffb000"
_MARK_STYLES: Mapping[str, str] = {"✓": "green", "✗": "red"}
_MARKS: Mapping[str, str] = {"info": "·", "warning": "!", "error": "!"}
_MOST_SOURCES = 20
_MOST_LIVE_CHARS = 20_000


class TerminalView(QueryView):
    """Shows a query on a terminal.

    Args:
        console: the terminal.
        out: the same terminal, for plain text.
        redirects_errors: whether standard error is this terminal too, so that log lines must not hit the live part.
        now: seconds, monotonic.
    """

    def __init__(
        self, console: Console, out: SafeStream, *, redirects_errors: bool = False, now: Clock = time.monotonic
    ) -> None:
        super().__init__()
        self._console = console
        self._out = out
        self._redirects_errors = redirects_errors
        self._now = now
        self._started_s = now()
        self._live: Live | None = None
        self._progress_labels: list[str] | None = None
        self._reader = BlockReader()
        self._text_is_last = False
        self._has_shown = self._has_gap = False

    def start(self) -> None:
        """Show that the query is running."""
        self._show_progress()

    def _show(self, chunk: chunks.Chunk) -> None:
        match chunk:
            case chunks.Content(text):
                self._write(clean(text))
            case chunks.Thinking() | chunks.ToolCalled():
                self._show_progress()
            case chunks.ToolReturned():
                mark, label, result = finished_call(self.answer, chunk)
                self._line(Text.assemble((mark, _MARK_STYLES[mark]), f" {label}", (f"  {result}", "dim")))
            case chunks.SystemNotice():
                self._line(Text(f"{_MARKS[chunk.severity]} {clean(chunk.system_message)}", style=AMBER))
            case chunks.ApprovalRequested(interrupt) | chunks.QuestionAsked(interrupt):
                self._line(Text(f"? {asked_line(interrupt)}", style="bold"))
            case chunks.Answered():
                self._line(Text(f"? {decided_line(chunk)}", style="dim"))
            case chunks.Failed():
                # Its text follows in the sentence that ends the answer.
                self._leave_text()
                self._hide_progress()
            case chunks.Done():
                self._finish(chunk)

    def close(self) -> None:
        """Write the rest of the text, remove the live part, and restore the cursor."""
        self._leave_text()
        self._hide_progress()

    def give_up(self) -> None:
        """Restore the cursor without taking any lock: the interrupted code may hold it."""
        with suppress(OSError, ValueError):
            os.write(self._console.file.fileno(), b"\x1b[?25h")

    def _write(self, text: str) -> None:
        self._print_blocks(self._reader.feed(text))
        if self._reader.pending is None:
            if self._text_is_last:
                self._hide_progress()
            return
        self._progress_labels = None
        self._draw(_UnfinishedBlock(self._reader, is_apart=self._has_shown))

    def _print_blocks(self, blocks: Sequence[TextBlock]) -> None:
        """Write finished blocks.

        The live part is removed first, because its thread may draw it at any moment, even during a print.
        """
        for block in blocks:
            self._hide_progress()
            if not (block.is_tight and self._text_is_last):
                self._separate()
            self._console.print(_rendered(block.text), end="")
            self._text_is_last = self._has_shown = True
            self._has_gap = False

    def _line(self, line: Text) -> None:
        """Write a line that is not part of the answer, above the live part."""
        was_in_progress = self._progress_labels is not None
        self._leave_text()
        self._hide_progress()
        self._separate_from_text()
        self._console.print(line, soft_wrap=True)
        self._has_shown, self._has_gap = True, False
        if was_in_progress:
            self._show_progress()

    def _leave_text(self) -> None:
        """Write the rest of the text, because something else follows."""
        self._print_blocks(self._reader.close())

    def _separate_from_text(self) -> None:
        if self._text_is_last:
            self._separate()
            self._text_is_last = False

    def _finish(self, done: chunks.Done) -> None:
        self.close()
        labels = source_labels(self.answer.sources)
        if labels:
            self._separate()
            self._console.print(Text("Sources", style="bold"))
            self._out.write("".join(f"  {label}\n" for label in labels[:_MOST_SOURCES]))
            if len(labels) > _MOST_SOURCES:
                self._out.write(f"  … and {len(labels) - _MOST_SOURCES} more\n")
            self._has_shown, self._has_gap = True, False
        self._separate()
        self._console.print(Text(ending(done, elapsed_s=self._now() - self._started_s), style="dim"), soft_wrap=True)

    def _separate(self) -> None:
        """Write one empty line, unless there is one or nothing is above."""
        if self._has_shown and not self._has_gap:
            self._console.line()
            self._has_gap = True

    def _show_progress(self) -> None:
        labels = [call_label(call.name, call.arguments) for call in self.answer.open_calls] or ["thinking"]
        if self._live is not None and labels == self._progress_labels:
            return  # the spinners animate themselves
        if self._progress_labels is None:
            self._leave_text()
            self._hide_progress()
            self._separate_from_text()
        self._progress_labels = labels
        lines = [Text(label) for label in labels[: max(1, self._console.height - 2)]]
        for line in lines:
            line.truncate(max(10, self._console.width - 4), overflow="ellipsis")
        self._draw(Group(*(Spinner("dots", text=line, style="cyan") for line in lines)))

    def _draw(self, part: RenderableType) -> None:
        """Show the live part; `Live` redraws it several times a second."""
        if self._live is not None:
            self._live.update(part, refresh=not isinstance(part, _UnfinishedBlock))
            return
        self._live = Live(
            part,
            console=self._console,
            transient=True,
            refresh_per_second=12.5,
            redirect_stdout=False,
            redirect_stderr=self._redirects_errors,
        )
        self._live.start(refresh=True)

    def _hide_progress(self) -> None:
        if self._live is not None:
            self._live.update(Text())  # one line: a frame without lines would leave one on the screen
            self._live.stop()
            self._live = None
            self._progress_labels = None


class _UnfinishedBlock:
    """The end of the unfinished block, as much of it as fits on the screen."""

    def __init__(self, reader: BlockReader, *, is_apart: bool) -> None:
        self._reader = reader
        self._is_apart = is_apart

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Its last lines, after an empty line if other text is above."""
        del options
        block = self._reader.pending
        if block is None:
            return
        if self._is_apart and not block.is_tight:
            yield Text()
        yield _rendered(block.text[-_MOST_LIVE_CHARS:], tail=max(1, console.height - 3))


def _rendered(text: str, *, tail: int | None = None) -> RenderableType:
    from oracle.cli.markdown import MarkdownBlock  # noqa: PLC0415  takes 0.1 s, and is needed only for an answer

    return MarkdownBlock(text, tail=tail)


def terminal_view(out: SafeStream) -> TerminalView:
    """The view for a person at the terminal that standard output, and `out`, is."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, no_color=not wants_colour())
    return TerminalView(console, out, redirects_errors=is_interactive(sys.stderr))
