"""How a command ends badly: its exit codes, and the errors that are told without a traceback."""

from typing import IO, Any, Final

import click

from oracle.cli.text import clean

FAILED: Final = 1
MISUSED: Final = 2
INTERRUPTED: Final = 128
"""Plus the number of the signal, as shells count: 130 for Ctrl-C, 143 for SIGTERM, 141 for a reader that went away."""


class CommandError(click.ClickException):
    """The command cannot do what it was asked to; the message is fit for the user and says what would be right.

    Args:
        message: one or more lines; control characters in it are shown as escapes.
        exit_code: of the process.
        prefix: goes before it; none for text that begins with a place in a file.
    """

    def __init__(self, message: str, *, exit_code: int = MISUSED, prefix: str = "Error: ") -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self._prefix = prefix

    def show(self, file: IO[Any] | None = None) -> None:
        """Write it to standard error."""
        click.echo(self._prefix + clean(self.message), file=file, err=file is None)
