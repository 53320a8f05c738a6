"""What the command line of a question says: the question itself, and its limits."""

import sys
from collections.abc import Iterable
from typing import BinaryIO

from oracle.agent.query import LONGEST_QUESTION, checked_question
from oracle.cli.errors import CommandError

_MOST_BYTES = 4 * LONGEST_QUESTION + 4_096
"""UTF-8 has at most four bytes per character; the rest is room for surrounding white space."""
_LONGEST_NUMBER = 18


def read_question(given: str | None) -> str:
    """The question.

    Args:
        given: the argument; `-` or `None` means standard input, unless that is a terminal.

    Raises:
        CommandError: there is no question, or it cannot be read.
        UserError: it is invalid.
    """
    if given not in (None, "-"):
        return checked_question(_as_text(given.encode("utf-8", errors="surrogateescape"), whence="the question"))
    if given is None and sys.stdin.isatty():
        raise CommandError('there is no question: oracle ask "How does …?", or write it to standard input')
    return checked_question(_from_standard_input())


def read_limits(given: Iterable[str]) -> dict[str, int | str]:
    """Parse `NAME=VALUE` items; a value that is not a whole number stays text, and is refused with all other mistakes.

    Raises:
        CommandError: an item has no `=`.
    """
    limits: dict[str, int | str] = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals:
            raise CommandError(f"--limit takes NAME=VALUE, such as max_iterations=5, not {item[:80]!r}")
        value = value.strip()
        digits = value.removeprefix("-")
        is_number = digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_NUMBER
        limits[name.strip()] = int(value) if is_number else value[:80]
    return limits


def _from_standard_input() -> str:
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        return sys.stdin.read(_MOST_BYTES).strip()
    try:
        data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise CommandError(f"standard input cannot be read: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise CommandError(
            f"standard input has more than {_MOST_BYTES:,} bytes; a question has at most 20,000 characters"
        )
    return _as_text(data, whence="standard input").strip()


def _as_text(data: bytes, *, whence: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{whence} is not UTF-8 text: byte {data[error.start]:#04x} at position {error.start + 1:,} is none"
        ) from None
