"""What can go wrong with a run as such, by who must act.

RunsError
├── DrainingError    the client: the service is stopping; ask again in a moment, here or elsewhere
└── UnendedError     nobody: the run is ended from its log
"""


class RunsError(Exception):
    """A run could not be begun or ended; the message says why."""


class DrainingError(RunsError):
    """The service is stopping and begins no new runs."""


class UnendedError(RunsError):
    """A query came to rest without its last chunk."""
