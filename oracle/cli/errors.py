"""Exit codes of commands that fail, and the errors that are reported without a traceback."""

from typing import IO, Any, Final

import click

from oracle.cli.text import clean
from oracle.core.errors import OperatorError, ToolDefinitionError, TreeAuthorError, UpstreamError, UserError

FAILED: Final = 1
INTERRUPTED: Final = 128
"""Plus the number of the signal, as shells count: 130 for Ctrl-C, 143 for SIGTERM, 141 for a closed pipe."""

REPORTED: Final = (UserError, OperatorError, TreeAuthorError, ToolDefinitionError, UpstreamError)
"""Errors that are reported as a `CommandError`; an `InternalError` keeps its traceback."""


class CommandError(click.ClickException):
    """The command cannot be carried out; the message says what is wrong and what would be right.

    Args:
        message: one or more lines; control characters in it are written as escapes.
        prefix: written before it; empty for text that begins with a place in a file.
    """

    exit_code = FAILED

    def __init__(self, message: str, *, prefix: str = "Error: ") -> None:
        super().__init__(message)
        self._prefix = prefix

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the message to standard error."""
        click.echo(self._prefix + clean(self.message), file=file, err=file is None)
