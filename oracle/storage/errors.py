"""What can go wrong in the store, by who must act.

StorageError
├── StoreSetupError          the operator: wrong address, another server holds the file, a newer schema
├── StoreUnavailableError    the operator: the database cannot be written for now; nothing was lost yet
├── RunLostError             nobody: another worker has taken the run over
├── RunBrokenError           us: something of the run can never be written
├── ConversationBusyError    the client: it is answering another query
├── UnknownConversationError the client
└── TooManyRunsError         the client: it has as many runs as it may
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
