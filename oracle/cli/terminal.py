"""A query as a person at a terminal sees it: text as it comes, what is under way below it, what was done above.

Text is written straight to the terminal and never drawn again, so nothing flickers. Only the line or two that tell what
is under way are redrawn, and they are gone before anything else is written.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from oracle.chunks import (
    Chunk,
    Content,
    Done,
    Failed,
    Source,
    SourceFound,
    SystemNotice,
    Thinking,
    ToolCalled,
    ToolReturned,
)
from oracle.cli.streams import SafeStream
from oracle.cli.text import call_label, clean
from oracle.cli.views import Clock, ending, finished_call, source_labels

AMBER: Final = "#ffb000"
_MARK_STYLES: Mapping[str, str] = {"✓": "green", "✗": "red"}
_MARKS: Mapping[str, str] = {"info": "·", "warning": "!", "error": "!"}
_MOST_SOURCES = 20


class TerminalView:
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
        self._console = console
        self._out = out
        self._redirects_errors = redirects_errors
        self._now = now
        self._started_s = now()
        self._calls: dict[str, ToolCalled] = {}
        self._sources: list[Source] = []
        self._live: Live | None = None
        self._under_way: list[str] = []
        self._line_is_open = False
        self._text_is_last = False
        self._has_shown = False

    def start(self) -> None:
        """Show that something is under way."""
        self._show_progress()

    def show(self, chunk: Chunk) -> None:
        """Show the next chunk."""
        match chunk:
            case Content(text):
                self._write(clean(text))
            case Thinking():
                self._show_progress()
            case SourceFound(source):
                self._sources.append(source)
            case ToolCalled():
                self._calls[chunk.id] = chunk
                self._show_progress()
            case ToolReturned():
                self._finish_call(chunk)
            case SystemNotice():
                self._line(Text(f"{_MARKS[chunk.severity]} {clean(chunk.system_message)}", style=AMBER))
            case Failed():
                # Its text follows as the sentence that ends the answer; twice would be once too often.
                self._hide_progress()
            case Done():
                self._finish(chunk)

    def close(self) -> None:
        """Take away what is under way, give the cursor back, and end the line."""
        self._hide_progress()
        if self._line_is_open:
            self._out.write("\n")
            self._line_is_open = False

    def give_up(self) -> None:
        """Give the cursor back, past all locks: the lock's holder may be what was interrupted."""
        with suppress(OSError, ValueError):
            os.write(self._console.file.fileno(), b"\x1b[?25h")

    def _write(self, text: str) -> None:
        self._hide_progress()
        if not self._text_is_last:
            # Between what was done and what is said stands one empty line, however many the model sends.
            text = text.lstrip("\n")
            if text and self._has_shown:
                text = f"\n{text}"
        if text:
            self._out.write(text)
            self._line_is_open = not text.endswith("\n")
            self._text_is_last = self._has_shown = True

    def _line(self, line: Text) -> None:
        """A line of ours, above what is under way."""
        self._leave_text()
        self._has_shown = True
        self._console.print(line, soft_wrap=True)

    def _leave_text(self) -> None:
        """What comes next is no text: it begins after an empty line."""
        if self._text_is_last:
            self._out.write("\n\n" if self._line_is_open else "\n")
            self._line_is_open = self._text_is_last = False

    def _finish_call(self, returned: ToolReturned) -> None:
        done = finished_call(self._calls.pop(returned.tool_call_id, None), returned)
        self._show_progress()  # first, so that the call is not under way and done at the same time
        mark = Text(done.mark, style=_MARK_STYLES[done.mark])
        self._line(Text.assemble(mark, f" {done.label}", Text(f"  {done.result}", style="dim")))

    def _finish(self, done: Done) -> None:
        self.close()
        labels = source_labels(self._sources)
        if labels:
            self._separate()
            self._console.print(Text("Sources", style="bold"))
            self._out.write("".join(f"  {label}\n" for label in labels[:_MOST_SOURCES]))
            if len(labels) > _MOST_SOURCES:
                self._out.write(f"  … and {len(labels) - _MOST_SOURCES} more\n")
        self._separate()
        self._console.print(Text(ending(done, elapsed_s=self._now() - self._started_s), style="dim"), soft_wrap=True)

    def _separate(self) -> None:
        if self._has_shown:
            self._out.write("\n")
        self._has_shown = True

    def _show_progress(self) -> None:
        labels = [call_label(call.name, call.arguments) for call in self._calls.values()] or ["thinking"]
        if self._live is not None and labels == self._under_way:
            return  # the spinners turn by themselves
        if self._live is None:
            self._leave_text()
            self._live = Live(
                console=self._console,
                transient=True,
                refresh_per_second=12.5,
                redirect_stdout=False,
                redirect_stderr=self._redirects_errors,
            )
            self._live.start()
        self._under_way = labels
        self._live.update(self._progress(labels), refresh=True)

    def _hide_progress(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _progress(self, labels: Sequence[str]) -> Group:
        width = max(10, self._console.width - 4)
        lines = [Text(label) for label in labels[: max(1, self._console.height - 2)]]
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return Group(*(Spinner("dots", text=line, style="cyan") for line in lines))
