"""Errors that keep a service from listening."""

from oracle.errors import OperatorError


class ServingError(OperatorError):
    """The service cannot listen on the given address; the message says what would be right."""
