"""The standard streams as a command may rely on them: always there, never a traceback when they go away."""

import io
import os
import sys
from collections.abc import Callable
from typing import TextIO


def prepare_standard_streams() -> None:
    """Give closed streams (`>&-`) a place to go, and let no character be one that cannot be written."""
    if sys.stdin is None:
        sys.stdin = _nowhere("r")
    if sys.stdout is None:
        sys.stdout = _nowhere("w")
    if sys.stderr is None:
        sys.stderr = _nowhere("w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def abandon_standard_output() -> None:
    """Its reader is gone: let the interpreter's last flush go nowhere, without a word."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


class SafeStream:
    """A text stream that is written to until it fails; then `on_failure` is called once, and the rest is dropped.

    Args:
        stream: where to.
        on_failure: what to do then; must not raise.
    """

    def __init__(self, stream: TextIO, *, on_failure: Callable[[], None]) -> None:
        self.failure: OSError | None = None
        self._stream = stream
        self._on_failure = on_failure

    def write(self, text: str) -> None:
        """Write text at once, in the stream's own encoding."""
        if self.failure is None and text:
            try:
                self._stream.write(text)
                self._stream.flush()
            except OSError as error:
                self._fail(error)

    def write_bytes(self, data: bytes) -> None:
        """Write UTF-8 text at once, whatever the stream's own encoding."""
        if self.failure is None:
            try:
                buffer = getattr(self._stream, "buffer", None)
                if buffer is None:
                    self._stream.write(data.decode())
                else:
                    buffer.write(data)
                self._stream.flush()
            except OSError as error:
                self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.failure = error
        self._on_failure()


def _nowhere(mode: str) -> TextIO:
    # Opened for the life of the process; the lowest free descriptor is the missing stream's own.
    stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115
    assert isinstance(stream, io.TextIOWrapper)  # noqa: S101  # text modes make one
    return stream
