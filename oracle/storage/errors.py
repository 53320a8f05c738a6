"""What can go wrong in the store, by who must act.

StorageError
├── StoreSetupError          the operator: wrong address, another server holds the file, a newer schema
├── StoreUnavailableError    the operator: the database cannot be written for now; nothing was lost yet
├── RunLostError             nobody: another worker has taken the run over
├── RunBrokenError           us: something of the run can never be written
├── ConversationBusyError    the client: it is answering another query
├── UnknownConversationError the client
├── TooManyRunsError         the client: it has as many runs as it may
├── KeyReusedError           the client: a key names one request alone
└── AlreadyBegunError        nobody: the request was sent before; its run is named
"""


class StorageError(Exception):
    """The store could not do what it was asked to; the message says why."""


class StoreSetupError(StorageError):
    """The store cannot be opened as configured; the message says what to do."""


class StoreUnavailableError(StorageError):
    """The database cannot be used for now."""


class RunLostError(StorageError):
    """Another worker has taken the run over; nothing more of it can be written here."""


class RunBrokenError(StorageError):
    """Something of the run can never be written; what was written before stays, without gaps."""


class ConversationBusyError(StorageError):
    """The conversation is answering another query."""


class UnknownConversationError(StorageError):
    """The user has no conversation of that name."""


class TooManyRunsError(StorageError):
    """The user has as many runs under way as one user may have."""


class KeyReusedError(StorageError):
    """The key of a request was used for another one."""


class AlreadyBegunError(StorageError):
    """The request was sent before, and has its run.

    Args:
        run_id: its name.
    """

    def __init__(self, run_id: str) -> None:
        super().__init__(f"this request has begun the run {run_id!r} before")
        self.run_id = run_id
