"""How log events are written: to standard error, a JSON object a line unless that is a terminal.

Rules:

- Standard output is never written to; it belongs to the answer.
- A log that cannot be written is lost; it never breaks what it tells of.
- Tracebacks are without the values of variables: they may hold prompts and keys.
- What libraries log goes the same way, from `warning` on: their lower levels tell of addresses and headers.
- A host that has configured structlog itself is left alone.
"""

import logging
import os
import sys
from typing import Any

import structlog

_LEVELS = logging.getLevelNamesMapping()


class _StandardErrorLogger:
    """Writes lines to whatever standard error is at that moment."""

    def msg(self, message: str) -> None:
        try:
            sys.stderr.write(f"{message}\n")
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):  # gone, closed, or never there
            return

    debug = info = warning = error = exception = critical = fatal = msg


class _ThroughStructlog(logging.Handler):
    """Passes on what libraries log by the standard library."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log it as ours; never raises."""
        try:
            told = {"logger": record.name}
            if record.exc_info and record.exc_info[0] is not None:
                told["exception"] = logging.Formatter().formatException(record.exc_info)
            structlog.get_logger(record.name).log(record.levelno, record.getMessage(), **told)
        except Exception:  # noqa: BLE001  a wrong call of a library's must not break what it tells of
            self.handleError(record)


_THROUGH_STRUCTLOG = _ThroughStructlog(logging.WARNING)


def configure_logging(level: str = "warning") -> None:
    """Have log events of at least `level` written to standard error, those of libraries too.

    Args:
        level: `debug`, `info`, `warning`, `error` or `critical`.
    """
    logging.getLogger().addHandler(_THROUGH_STRUCTLOG)  # once, however often it is added
    is_terminal = is_interactive(sys.stderr)
    renderers: list[structlog.typing.Processor] = (
        [structlog.dev.ConsoleRenderer(colors=wants_colour(), exception_formatter=structlog.dev.plain_traceback)]
        if is_terminal
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _in_order,
            *renderers,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level.upper()]),
        logger_factory=lambda *_: _StandardErrorLogger(),
        cache_logger_on_first_use=False,
    )


def _in_order(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """When, how bad, what; then the rest as it was given."""
    del logger, method
    return {name: event.pop(name) for name in ("timestamp", "level", "event") if name in event} | dict(event)


def configure_unless_configured(level: str) -> None:
    """Have nothing less than `level` logged, where nobody has said how to log.

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
