"""Log events: how they are configured, and how their lines are written.

Log lines go to standard error, at once or by a thread:

- A line that cannot be written is lost; it never breaks, and in a service never delays, what it reports.
- A service writes by a thread (`written_in_background`): a pipe that nobody reads, a terminal that was stopped with
  Ctrl-S or a full disk blocks only that thread. Its queue is bounded; lines beyond that are dropped and counted, and
  the log reports how many as soon as it can.
- The thread writes to the file itself, not to `sys.stderr`: a thread that is stuck there holds a lock that the
  interpreter wants when it ends.

Each is a JSON object, or text for a person where standard error is a terminal:

- Standard output is never written to; it belongs to the answer.
- A line contains no control sequences for terminals (except the colours of a log for people): paths and messages come
  from outside, and log files are often viewed on a terminal.
- Tracebacks are without the values of variables: they may hold prompts and keys.
- Log events of libraries are handled the same way, from `warning` on: their lower levels contain addresses and headers.
- A host that has configured structlog itself is left alone.
"""

import json
import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import structlog

MOST_LINES: Final = 10_000
"""The maximum number of lines that wait to be written."""
LAST_WAIT_S: Final = 1.0
"""For the lines that are left at the end of the process."""


class LineThread:
    """Writes lines in a thread of its own.

    Args:
        descriptor: the file that is written to.
        most_lines: lines that may wait to be written; further ones are dropped.
    """

    def __init__(self, descriptor: int, *, most_lines: int = MOST_LINES) -> None:
        self.dropped = 0
        """Lines that were not written, since the start."""
        self._descriptor = descriptor
        self._most_lines = most_lines
        self._lines: deque[str] = deque()
        self._unsaid = 0  # dropped lines of which the log does not know yet
        self._is_closing = False
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="log-lines", daemon=True)
        self._thread.start()

    def put(self, line: str) -> None:
        """Have a line written; never waits."""
        with self._change:
            if len(self._lines) >= self._most_lines:
                self.dropped += 1
                self._unsaid += 1
                return
            self._lines.append(line)
            self._change.notify()

    def close(self, *, within_s: float = LAST_WAIT_S) -> bool:
        """Write what is left; returns whether all of it was written in that time."""
        with self._change:
            self._is_closing = True
            self._change.notify()
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while lines := self._take():
            try:
                data = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError:  # gone: what follows is lost as well, as it would be without a thread
                continue

    def _take(self) -> list[str]:
        """The lines that wait; none once it is closed."""
        with self._change:
            while not self._lines and not self._is_closing:
                self._change.wait()
            lines = list(self._lines)
            self._lines.clear()
            if self._unsaid:
                lines.append(json.dumps({"level": "warning", "event": "log.dropped", "lines": self._unsaid}))
                self._unsaid = 0
            return lines


class _Lines:
    """The log lines of this process."""

    def __init__(self) -> None:
        self.thread: LineThread | None = None

    def put(self, line: str) -> None:
        """Write a line, to whatever standard error is at that moment, or by the thread."""
        if self.thread is not None:
            self.thread.put(line)
            return
        try:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):  # gone, closed, or never there
            return


_LINES = _Lines()


def put_line(line: str) -> None:
    """Write a log line."""
    _LINES.put(line)


def dropped_lines() -> int:
    """Log lines that this process has dropped because nothing took them."""
    return 0 if _LINES.thread is None else _LINES.thread.dropped


@contextmanager
def written_in_background() -> Iterator[None]:
    """Have log lines written by a thread while this is entered, and wait at most `LAST_WAIT_S` for the last ones.

    Where standard error is no file (a test has replaced it), lines are written as they were before.
    """
    try:
        descriptor = sys.stderr.fileno()
    except (OSError, ValueError, AttributeError):
        yield
        return
    thread = _LINES.thread = LineThread(descriptor)
    try:
        yield
    finally:
        if thread.close():  # otherwise lines cannot be written, and those that still come are dropped
            _LINES.thread = None


_JSON = structlog.processors.JSONRenderer(ensure_ascii=False)
_LEVELS = logging.getLevelNamesMapping()
_IS_QUIET: ContextVar[bool] = ContextVar("is_quiet", default=False)
_BLOCKS = ("exception", "stack")
"""What the renderer writes below the line, as it is."""


class _LineLogger:
    """Writes what has been rendered."""

    def msg(self, message: str) -> None:
        """Write a line, or more where it has a traceback."""
        put_line(message)

    debug = info = warning = error = exception = critical = fatal = msg


class _ThroughStructlog(logging.Handler):
    """Passes on what libraries log by the standard library."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log it as ours; never raises."""
        try:
            fields = {"logger": record.name}
            if record.exc_info and record.exc_info[0] is not None:
                fields["exception"] = logging.Formatter().formatException(record.exc_info)
            structlog.get_logger(record.name).log(record.levelno, record.getMessage(), **fields)
        except Exception:  # noqa: BLE001  a wrong call of a library's must not break the library
            self.handleError(record)


_THROUGH_STRUCTLOG = _ThroughStructlog(logging.WARNING)


def configure_logging(level: str = "warning", *, as_text: bool = False) -> None:
    """Have log events of at least `level` written to standard error, those of libraries too.

    Args:
        level: `debug`, `info`, `warning`, `error` or `critical`.
        as_text: write text for a person also where standard error is no terminal.
    """
    logging.getLogger().addHandler(_THROUGH_STRUCTLOG)  # once, however often it is added
    # It warns of each header of a client's that is not valid, and quotes it.
    logging.getLogger("opentelemetry.trace").setLevel(logging.ERROR)
    is_shown = is_interactive(sys.stderr)
    renderers: list[structlog.typing.Processor] = (
        [
            _fit_for_a_terminal,
            structlog.dev.ConsoleRenderer(
                colors=is_shown and wants_colour(), exception_formatter=structlog.dev.plain_traceback
            ),
        ]
        if as_text or is_shown
        else [_render_json]
    )
    structlog.configure(
        processors=[
            _unless_quiet,
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _in_order,
            structlog.processors.format_exc_info,
            *renderers,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level.upper()]),
        logger_factory=lambda *_: _LineLogger(),
        cache_logger_on_first_use=False,
    )


@contextmanager
def quiet() -> Iterator[None]:
    """Log nothing in this context: repeated or explored ticks have not happened."""
    token = _IS_QUIET.set(True)
    try:
        yield
    finally:
        _IS_QUIET.reset(token)


def _unless_quiet(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    del logger, method
    if _IS_QUIET.get():
        raise structlog.DropEvent
    return event


def _in_order(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """When, how bad, what; then the rest as it was given."""
    del logger, method
    return {name: event.pop(name) for name in ("timestamp", "level", "event") if name in event} | dict(event)


def _fit_for_a_terminal(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Names and values with what a terminal would obey shown as escapes; of tracebacks alone the line breaks stay."""
    del logger, method
    fit = {_escaped(name): _shown(value) for name, value in event.items() if name not in _BLOCKS}
    return fit | {name: _escaped(str(event[name]), keep="\n") for name in _BLOCKS if name in event}


def _shown(value: Any) -> Any:  # noqa: ANN401  what is logged
    if isinstance(value, str):
        return _escaped(value)
    shown = repr(value)  # of Python's own containers it has escapes already; of others it may be anything
    return value if shown.isprintable() else _escaped(shown)


def _escaped(text: str, *, keep: str = "") -> str:
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in keep else each.encode("unicode_escape").decode() for each in text
    )


def _render_json(logger: object, method: str, event: structlog.typing.EventDict) -> str:
    """A line of JSON without control characters; JSON itself asks for escapes below U+0020 alone."""
    line = str(_JSON(logger, method, event))
    return (
        line if line.isprintable() else "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in line)
    )


def configure_unless_configured(level: str) -> None:
    """Configure logging from `level` on, unless structlog has been configured.

    structlog's own default writes everything to standard output, down to `debug`. A program that only embeds the agent
    gets what `configure_logging` does for a command instead, and may configure structlog as it likes, before or after.
    """
    if not structlog.is_configured():
        configure_logging(level)


def is_interactive(stream: Any) -> bool:  # noqa: ANN401  a text stream, or None where there is none
    """Whether a person reads along: the stream is a terminal that can do more than print."""
    try:
        return stream is not None and bool(stream.isatty()) and os.environ.get("TERM") != "dumb"
    except ValueError:  # closed
        return False


def wants_colour() -> bool:
    """Whether terminals may be coloured (https://no-color.org)."""
    return not os.environ.get("NO_COLOR")
