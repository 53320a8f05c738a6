"""The errors of debugging; `oracle.errors` has the tree by who must act."""

from oracle.errors import UserError


class DebugRefusedError(UserError):
    """The run cannot be debugged so, as it stands."""


class WrongCommandError(UserError):
    """A part of a command or of a breakpoint is wrong.

    Args:
        message: what is wrong, and what would be right.
        field: the part.
        column: of the mistake in an expression, from 1; `None` elsewhere.
    """

    def __init__(self, message: str, *, field: str, value: object = None, column: int | None = None) -> None:
        super().__init__(message)
        self.loc = ("body", field)
        self.value = value
        self.column = column
