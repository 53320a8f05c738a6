"""A query on the standard streams, whatever gives its chunks: this process, a service, a database.

Its views are JSON lines, plain text, and that for a terminal (`terminal`).
"""

import sys
import time
from collections.abc import Callable, Sequence

from oracle.cli.errors import FAILED, INTERRUPTED, CommandError
from oracle.cli.people import asked_line, decided_line
from oracle.cli.streams import SafeStream, abandon_standard_output, are_one
from oracle.cli.text import call_label, clean, one_line
from oracle.core import chunks
from oracle.core.logs import is_interactive

Clock = Callable[[], float]
_BROKEN_PIPE = INTERRUPTED + 13

_LINE_BREAKS = {char.encode(): char.encode("unicode_escape").replace(b"\\x", b"\\u00") for char in "\x85\u2028\u2029"}
"""Characters that JSON allows in a text, and at which readers of lines break."""


class QueryView:
    """Shows a query, chunk by chunk; `answer` is what they add up to."""

    def __init__(self) -> None:
        self.answer = chunks.Answer()

    def start(self) -> None:
        """The query begins. By default nothing is shown yet."""

    def show(self, chunk: chunks.Chunk) -> None:
        """Show the next chunk."""
        self.answer.add(chunk)
        self._show(chunk)

    def close(self) -> None:
        """The query is over, or will not be shown any further. By default everything has been written."""

    def give_up(self) -> None:
        """Restore the terminal without waiting, because the process may end at any moment."""

    def _show(self, chunk: chunks.Chunk) -> None:
        raise NotImplementedError


class JsonView(QueryView):
    """One JSON object per line, in UTF-8, and nothing else: the `data:` objects of the HTTP stream."""

    def __init__(self, out: SafeStream) -> None:
        super().__init__()
        self._out = out

    def _show(self, chunk: chunks.Chunk) -> None:
        self._out.write_bytes(json_line(chunk))


class PlainView(QueryView):
    """Text without escapes: the answer and its sources go to one stream, everything about it to the other.

    `now` gives monotonic seconds; `is_together`: both streams are one terminal, pipe or file.
    """

    def __init__(
        self, out: SafeStream, aside: SafeStream, *, is_together: bool = False, now: Clock = time.monotonic
    ) -> None:
        super().__init__()
        self._out = out
        self._aside = aside
        self._now = now
        self._started_s = now()
        self._is_together = is_together
        self._is_in_line = False

    def _show(self, chunk: chunks.Chunk) -> None:
        match chunk:
            case chunks.Content(text):
                shown = clean(text)
                self._out.write(shown)
                if shown:
                    self._is_in_line = self._is_together and not shown.endswith("\n")
            case chunks.ToolReturned():
                mark, label, result = finished_call(self.answer, chunk)
                self._note(f"{mark} {label} · {result}")
            case chunks.SystemNotice():
                self._note(f"{chunk.severity}: {clean(chunk.system_message)}")
            case chunks.ApprovalRequested(interrupt) | chunks.QuestionAsked(interrupt):
                self._note(f"? {asked_line(interrupt)}")
            case chunks.Answered():
                self._note(f"? {decided_line(chunk)}")
            case chunks.Failed():
                self._note(f"error: {clean(chunk.error)}")
            case chunks.Done():
                self._finish(chunk)

    def _note(self, line: str) -> None:
        """Write a line about the answer; where both streams are one, it does not continue a line of the answer."""
        self._aside.write(f"{chr(10) * self._is_in_line}{line}\n")
        self._is_in_line = False

    def _finish(self, done: chunks.Done) -> None:
        if self.answer.text and not clean(self.answer.text).endswith("\n"):
            self._out.write("\n")
        labels = source_labels(self.answer.sources)
        if labels:
            self._out.write("\nSources:\n" + "".join(f"- {label}\n" for label in labels))
        self._aside.write(f"{ending(done, elapsed_s=self._now() - self._started_s)}\n")


def finished_call(answer: chunks.Answer, returned: chunks.ToolReturned) -> tuple[str, str, str]:
    """A tool call of the answer: its mark, its label, and how long it took, with the result's text if it failed."""
    call = answer.calls.get(returned.tool_call_id)
    label = call_label(call.name, call.arguments) if call else "tool call"
    took = f"{returned.duration_ms:,} ms"
    if returned.is_error:
        return "✗", label, f"{took} · {one_line(returned.tool_result)}"
    return "✓", label, took


def is_answered(answer: chunks.Answer) -> bool:
    """Whether the model produced text and the query did not end with an error; the exit code rests on it."""
    return answer.has_text and answer.done is not None and answer.done.termination_reason != "error"


def source_label(source: chunks.Source) -> str:
    """A source on one line: `auth/login.py:12`, `decisions.md:3 (vault)`, or an address."""
    place = one_line(source.path, longest=400)
    if source.line is not None:
        place = f"{place}:{source.line}"
    return place if source.source_type in {"code", "web"} else f"{place} ({source.source_type})"


def source_labels(sources: Sequence[chunks.Source]) -> list[str]:
    """The labels of the sources, each once, in the order in which they were found."""
    return list(dict.fromkeys(map(source_label, sources)))


def ending(done: chunks.Done, *, elapsed_s: float) -> str:
    """The last line: `completed · 3 turns · 1,234 tokens (estimated) · offline-extractive · 1.2 s`.

    Where the provider has read input from its cache, its share follows the tokens: `86 % of the input cached`.
    """
    reason = "cancelled" if done.termination_reason == "user_cancelled" else done.termination_reason
    turns = f"{done.turns} turn{'' if done.turns == 1 else 's'}"
    plural = "" if done.tokens_used == 1 else "s"
    tokens = f"{done.tokens_used:,} token{plural}{' (estimated)' if done.tokens_estimated else ''}"
    parts = [reason, turns, tokens, one_line(done.model_used, longest=80), f"{elapsed_s:.1f} s"]
    if (used := done.usage) is not None and used.cache_read_tokens:
        whole = used.counted - used.output_tokens + used.cache_read_tokens
        parts.insert(3, f"{100 * used.cache_read_tokens // whole} % of the input cached")
    return " · ".join(parts)


def json_line(chunk: chunks.Chunk) -> bytes:
    """The chunk as a line of JSON, as the service sends it."""
    data = chunks.write_chunk(chunk)
    for text, escaped in _LINE_BREAKS.items():
        data = data.replace(text, escaped)
    return data + b"\n"


class QueryStage:
    """Shows a query on the standard streams; a chunk that cannot be shown cancels the query, and never raises in it."""

    def __init__(self, *, as_json: bool) -> None:
        self._cancel: Callable[[], None] = lambda: None
        self._out = SafeStream(sys.stdout, on_failure=self._stop)
        self._trouble: Exception | None = None
        self.view = _choose_view(self._out, as_json=as_json)

    def begin(self, *, cancel: Callable[[], None]) -> None:
        """Start the view; `cancel` stops the query."""
        self._cancel = cancel
        self.view.start()

    def show(self, chunk: chunks.Chunk) -> None:
        """Show the next chunk."""
        try:
            self.view.show(chunk)
        except Exception as error:  # noqa: BLE001  raised again when the query has ended
            self._trouble = self._trouble or error
            self._stop()

    @property
    def is_broken(self) -> bool:
        """Whether a chunk could not be shown."""
        return self._out.failure is not None or self._trouble is not None

    def exit_code(self) -> int:
        """The exit code of a query that was not interrupted.

        Raises:
            CommandError: the answer could not be written.
        """
        failure = self._out.failure or (self._trouble if isinstance(self._trouble, OSError) else None)
        if isinstance(failure, BrokenPipeError):
            abandon_standard_output()
            return _BROKEN_PIPE
        if failure is not None:
            abandon_standard_output()
            raise CommandError(f"the answer could not be written: {failure.strerror}")
        if self._trouble is not None:
            raise self._trouble
        return 0 if is_answered(self.view.answer) else FAILED

    def _stop(self) -> None:
        self._cancel()


def _choose_view(out: SafeStream, *, as_json: bool) -> QueryView:
    if as_json:
        return JsonView(out)
    if not is_interactive(sys.stdout):
        is_together = are_one(sys.stdout, sys.stderr)
        return PlainView(out, SafeStream(sys.stderr, on_failure=lambda: None), is_together=is_together)
    from oracle.cli.terminal import terminal_view  # noqa: PLC0415  loads rich, and is needed only for a terminal

    return terminal_view(out)
