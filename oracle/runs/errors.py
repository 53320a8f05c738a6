"""The errors of runs; `oracle.errors` has the tree by who must act."""

from oracle.errors import InternalError, UserError


class DrainingError(UserError):
    """The service is stopping and starts no new runs."""


class UnendedError(InternalError):
    """A query ended without its last chunk."""
