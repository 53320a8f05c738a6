"""What an operator has to do before runs can be exported."""

from oracle.core.errors import OperatorError


class PageNotBuiltError(OperatorError):
    """The page of exported runs has not been built here; the message says how to build it."""
