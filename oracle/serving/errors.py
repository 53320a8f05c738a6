"""What keeps a service from listening."""

from oracle.errors import OperatorError


class ServingError(OperatorError):
    """The service cannot listen where it was told to; the message says what would be right."""
