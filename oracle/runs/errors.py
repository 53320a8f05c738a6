"""What can go wrong with a run as such; `oracle.errors` has the tree by who must act."""

from oracle.errors import InternalError, UserError


class DrainingError(UserError):
    """The service is stopping and begins no new runs."""


class UnendedError(InternalError):
    """A query came to rest without its last chunk."""
