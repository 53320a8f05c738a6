"""How the chunks of a query are shown: as JSON lines, as plain text, or (`terminal`) to a person."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from oracle.chunks import (
    Chunk,
    Content,
    Done,
    Failed,
    Source,
    SourceFound,
    SystemNotice,
    ToolCall,
    ToolCalled,
    ToolReturned,
    write_chunk,
)
from oracle.cli.streams import SafeStream
from oracle.cli.text import call_label, clean, one_line, source_label

Clock = Callable[[], float]

_LINE_BREAKS = {char.encode(): char.encode("unicode_escape").replace(b"\\x", b"\\u00") for char in "\x85\u2028\u2029"}
"""Characters that JSON allows in a text, and at which readers of lines break."""


class View(Protocol):
    """Shows a query."""

    def start(self) -> None:
        """The query begins."""
        ...

    def show(self, chunk: Chunk) -> None:
        """The next chunk."""
        ...

    def close(self) -> None:
        """The query is over, or will not be shown any further."""
        ...

    def give_up(self) -> None:
        """The process may end at any moment now: leave the terminal usable, and wait for nothing."""
        ...


class JsonView:
    """One JSON object per line, in UTF-8, and nothing else: the `data:` objects of the HTTP stream."""

    def __init__(self, out: SafeStream) -> None:
        self._out = out

    def show(self, chunk: Chunk) -> None:
        """Write it at once."""
        self._out.write_bytes(json_line(chunk))

    def start(self) -> None:
        """Nothing is shown before there is something."""

    def close(self) -> None:
        """Everything was written at once."""

    def give_up(self) -> None:
        """Everything was written at once."""


class PlainView:
    """Text without escapes: the answer and its sources to one stream, everything about it to the other.

    Args:
        out: for the answer.
        aside: for tool calls, notifications and the end.
        now: seconds, monotonic.
    """

    def __init__(self, out: SafeStream, aside: SafeStream, *, now: Clock = time.monotonic) -> None:
        self._out = out
        self._aside = aside
        self._now = now
        self._started_s = now()
        self._calls: dict[str, ToolCall] = {}
        self._sources: list[Source] = []
        self._last_character = "\n"

    def show(self, chunk: Chunk) -> None:
        """Write what is to be read of it."""
        match chunk:
            case Content(text):
                shown = clean(text)
                self._out.write(shown)
                self._last_character = shown[-1:] or self._last_character
            case SourceFound(source):
                self._sources.append(source)
            case ToolCalled(call):
                self._calls[call.id] = call
            case ToolReturned():
                finished = finished_call(self._calls.pop(chunk.tool_call_id, None), chunk)
                self._aside.write(f"{finished.text}\n")
            case SystemNotice():
                self._aside.write(f"{chunk.severity}: {clean(chunk.system_message)}\n")
            case Failed():
                self._aside.write(f"error: {clean(chunk.error)}\n")
            case Done():
                self._finish(chunk)

    def start(self) -> None:
        """Nothing is shown before there is something."""

    def close(self) -> None:
        """Everything was written at once."""

    def give_up(self) -> None:
        """Everything was written at once."""

    def _finish(self, done: Done) -> None:
        if self._last_character != "\n":
            self._out.write("\n")
        labels = source_labels(self._sources)
        if labels:
            self._out.write("\nSources:\n" + "".join(f"- {label}\n" for label in labels))
        self._aside.write(f"{ending(done, elapsed_s=self._now() - self._started_s)}\n")


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A tool call with its result, in parts that can be styled."""

    mark: str
    label: str
    result: str

    @property
    def text(self) -> str:
        """All of it on one line."""
        return f"{self.mark} {self.label} · {self.result}"


def finished_call(call: ToolCall | None, returned: ToolReturned) -> FinishedCall:
    """What is told of a tool call: how long it took, and its text if it failed."""
    label = "tool call" if call is None else call_label(call.name, call.arguments)
    took = f"{returned.duration_ms:,} ms"
    if returned.is_error:
        return FinishedCall("✗", label, f"{took} · {one_line(returned.tool_result)}")
    return FinishedCall("✓", label, took)


def source_labels(sources: Sequence[Source]) -> list[str]:
    """The sources as they are listed, each once, in the order in which they were found."""
    return list(dict.fromkeys(map(source_label, sources)))


def ending(done: Done, *, elapsed_s: float) -> str:
    """The last line: `completed · 3 turns · 1,234 tokens (estimated) · offline-extractive · 1.2 s`."""
    reason = "cancelled" if done.termination_reason == "user_cancelled" else done.termination_reason
    turns = f"{done.turns} turn{'' if done.turns == 1 else 's'}"
    plural = "" if done.tokens_used == 1 else "s"
    tokens = f"{done.tokens_used:,} token{plural}{' (estimated)' if done.tokens_estimated else ''}"
    return " · ".join((reason, turns, tokens, one_line(done.model_used, longest=80), f"{elapsed_s:.1f} s"))


def json_line(chunk: Chunk) -> bytes:
    """The chunk as a line of JSON, as the service sends it."""
    data = write_chunk(chunk)
    for text, escaped in _LINE_BREAKS.items():
        data = data.replace(text, escaped)
    return data + b"\n"


@dataclass(slots=True)
class Outcome:
    """What the exit code rests on: whether the model produced text, and how the query ended."""

    done: Done | None = None
    _texts: list[str] = field(default_factory=list)

    def note(self, chunk: Chunk) -> None:
        """The next chunk."""
        if isinstance(chunk, Content):
            self._texts.append(chunk.content)
        elif isinstance(chunk, Done):
            self.done = chunk

    @property
    def is_answer(self) -> bool:
        """The model produced text, and the query did not end with an error."""
        if self.done is None or self.done.termination_reason == "error":
            return False
        said = self._texts
        if self.done.termination_reason not in {"completed", "user_cancelled"} and said[-1:]:
            # The sentence why it stopped is the control's, not the model's, and comes last in a chunk of its own.
            said = said[:-1] if said[-1].startswith("Stopped: ") else said
        return any(text.strip() for text in said)
