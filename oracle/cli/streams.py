"""Standard streams that are always open, and that never raise when their reader closes them."""

import io
import os
import sys
from collections.abc import Callable
from typing import IO, AnyStr, TextIO


def prepare_standard_streams() -> None:
    """Replace closed streams (`>&-`) by the null device, and escape characters that cannot be encoded."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # the new one, open for good, gets the lowest free descriptor: the missing one
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def abandon_standard_output() -> None:
    """Point standard output at the null device, so that the interpreter's last flush does not fail."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def are_one(stream: TextIO, other: TextIO) -> bool:
    """Whether both are the same terminal, pipe or file."""
    try:
        return os.path.sameopenfile(stream.fileno(), other.fileno())
    except (OSError, ValueError):
        return False


class SafeStream:
    """A text stream that is written to until it fails; `on_failure` is then called once, and further output is dropped.

    Args:
        stream: the underlying stream.
        on_failure: called at the first failure; must not raise.
    """

    def __init__(self, stream: TextIO, *, on_failure: Callable[[], None]) -> None:
        self.failure: OSError | None = None
        self._stream = stream
        self._on_failure = on_failure

    def write(self, text: str) -> None:
        """Write text at once, in the stream's own encoding."""
        self._write(self._stream, text)

    def write_bytes(self, data: bytes) -> None:
        """Write UTF-8 text at once, whatever the stream's own encoding."""
        buffer = getattr(self._stream, "buffer", None)
        if buffer is None:
            self._write(self._stream, data.decode())
        else:
            self._write(buffer, data)

    def _write(self, stream: IO[AnyStr], data: AnyStr) -> None:
        if self.failure is None and data:
            try:
                stream.write(data)
                stream.flush()
            except OSError as error:
                self.failure = error
                self._on_failure()
