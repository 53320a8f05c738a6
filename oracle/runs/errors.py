"""The errors of runs; `oracle.core.errors` has the tree by who must act."""

from oracle.core.errors import InternalError, UserError


class DrainingError(UserError):
    """The service is stopping and starts no new runs."""


class UnendedError(InternalError):
    """A query ended without its last chunk."""
