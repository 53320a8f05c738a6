"""How log events are written: to standard error, a JSON object a line unless that is a terminal.

Rules:

- Standard output is never written to; it belongs to the answer.
- A log that cannot be written is lost; it never breaks what it tells of.
- Tracebacks are without the values of variables: they may hold prompts and keys.
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


def configure_logging(level: str = "warning") -> None:
    """Have log events of at least `level` written to standard error.

    Args:
        level: `debug`, `info`, `warning`, `error` or `critical`.
    """
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
            *renderers,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level.upper()]),
        logger_factory=lambda *_: _StandardErrorLogger(),
        cache_logger_on_first_use=False,
    )


def is_interactive(stream: Any) -> bool:  # noqa: ANN401  a text stream, or None where there is none
    """Whether a person reads along: the stream is a terminal that can do more than print."""
    try:
        return stream is not None and bool(stream.isatty()) and os.environ.get("TERM") != "dumb"
    except ValueError:  # closed
        return False


def wants_colour() -> bool:
    """Whether terminals may be coloured (https://no-color.org)."""
    return not os.environ.get("NO_COLOR")
