"""A query as a person at a terminal sees it: text as it comes, what is under way below it, what was done above.

The answer's Markdown is rendered block by block. A finished block is written once and never drawn again, so a long
answer scrolls as any output does. Only what is under way is redrawn, at the end of the screen: the last lines of the
block that is coming, or the calls that are running. It is gone before anything else is written.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from oracle.chunks import Chunk, Content, Done, Failed, SystemNotice, Thinking, ToolCalled, ToolReturned
from oracle.cli.blocks import Block, BlockReader
from oracle.cli.streams import SafeStream
from oracle.cli.text import call_label, clean
from oracle.cli.views import Clock, View, ending, finished_call, source_labels

AMBER: Final = "#ffb000"
_MARK_STYLES: Mapping[str, str] = {"✓": "green", "✗": "red"}
_MARKS: Mapping[str, str] = {"info": "·", "warning": "!", "error": "!"}
_MOST_SOURCES = 20
_MOST_CHARS_UNDER_WAY = 20_000


class TerminalView(View):
    """Shows a query on a terminal.

    Args:
        console: the terminal.
        out: the same, for text.
        redirects_errors: whether standard error is this terminal as well, so that a log line must not run into ours.
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
        self._under_way: list[str] | None = None
        self._reader = BlockReader()
        self._text_is_last = False
        self._has_shown = self._has_gap = False

    def start(self) -> None:
        """Show that something is under way."""
        self._show_progress()

    def _show(self, chunk: Chunk) -> None:
        match chunk:
            case Content(text):
                self._write(clean(text))
            case Thinking() | ToolCalled():
                self._show_progress()
            case ToolReturned():
                self._finish_call(chunk)
            case SystemNotice():
                self._line(Text(f"{_MARKS[chunk.severity]} {clean(chunk.system_message)}", style=AMBER))
            case Failed():
                # Its text follows as the sentence that ends the answer; twice would be once too often.
                self._leave_text()
                self._hide_progress()
            case Done():
                self._finish(chunk)

    def close(self) -> None:
        """Write what is left of the text, take away what is under way, and give the cursor back."""
        self._leave_text()
        self._hide_progress()

    def give_up(self) -> None:
        """Give the cursor back, past all locks: the lock's holder may be what was interrupted."""
        with suppress(OSError, ValueError):
            os.write(self._console.file.fileno(), b"\x1b[?25h")

    def _write(self, text: str) -> None:
        self._print_blocks(self._reader.feed(text))
        if self._reader.pending is None:
            if self._text_is_last:
                self._hide_progress()
            return
        self._under_way = None
        self._draw(_BlockUnderWay(self._reader, is_apart=self._has_shown))

    def _print_blocks(self, blocks: Sequence[Block]) -> None:
        """Write blocks for good.

        What is under way is taken away first: its own thread may draw it at any moment, also in the middle of a print.
        """
        for block in blocks:
            self._hide_progress()
            if not (block.is_tight and self._text_is_last):
                self._separate()
            self._console.print(_rendered(block.text), end="")
            self._text_is_last = self._has_shown = True
            self._has_gap = False

    def _line(self, line: Text) -> None:
        """A line of ours, above what is under way."""
        was_under_way = self._under_way is not None
        self._leave_text()
        self._hide_progress()
        self._separate_from_text()
        self._console.print(line, soft_wrap=True)
        self._has_shown, self._has_gap = True, False
        if was_under_way:
            self._show_progress()

    def _leave_text(self) -> None:
        """What comes next is no text: what there is of it is written."""
        self._print_blocks(self._reader.close())

    def _separate_from_text(self) -> None:
        if self._text_is_last:
            self._separate()
            self._text_is_last = False

    def _finish_call(self, returned: ToolReturned) -> None:
        done = finished_call(self.answer, returned)
        mark = Text(done.mark, style=_MARK_STYLES[done.mark])
        self._line(Text.assemble(mark, f" {done.label}", Text(f"  {done.result}", style="dim")))

    def _finish(self, done: Done) -> None:
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
        """One empty line below what is shown."""
        if self._has_shown and not self._has_gap:
            self._console.line()
            self._has_gap = True

    def _show_progress(self) -> None:
        labels = [call_label(call.name, call.arguments) for call in self.answer.open_calls] or ["thinking"]
        if self._live is not None and labels == self._under_way:
            return  # the spinners turn by themselves
        if self._under_way is None:
            self._leave_text()
            self._hide_progress()
            self._separate_from_text()
        self._under_way = labels
        self._draw(self._progress(labels))

    def _draw(self, under_way: RenderableType) -> None:
        """Show what is under way; it is drawn again by itself, a few times a second."""
        if self._live is not None:
            self._live.update(under_way, refresh=not isinstance(under_way, _BlockUnderWay))
            return
        self._live = Live(
            under_way,
            console=self._console,
            transient=True,
            refresh_per_second=12.5,
            redirect_stdout=False,
            redirect_stderr=self._redirects_errors,
        )
        self._live.start(refresh=True)

    def _hide_progress(self) -> None:
        if self._live is not None:
            self._live.update(Text())  # one line: of a frame without any, one would be left
            self._live.stop()
            self._live = None
            self._under_way = None

    def _progress(self, labels: Sequence[str]) -> Group:
        width = max(10, self._console.width - 4)
        lines = [Text(label) for label in labels[: max(1, self._console.height - 2)]]
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return Group(*(Spinner("dots", text=line, style="cyan") for line in lines))


class _BlockUnderWay:
    """The end of the block that is coming, as much of it as the screen holds."""

    def __init__(self, reader: BlockReader, *, is_apart: bool) -> None:
        self._reader = reader
        self._is_apart = is_apart

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Its last lines, after an empty one where the text before ends."""
        del options
        block = self._reader.pending
        if block is None:
            return
        if self._is_apart and not block.is_tight:
            yield Text()
        yield _rendered(block.text[-_MOST_CHARS_UNDER_WAY:], tail=max(1, console.height - 3))


def _rendered(text: str, *, tail: int | None = None) -> RenderableType:
    from oracle.cli.markdown import MarkdownBlock  # noqa: PLC0415  a tenth of a second, and only for an answer

    return MarkdownBlock(text, tail=tail)
