"""What can go wrong in the store; `oracle.errors` has the tree by who must act."""

from oracle.errors import InternalError, OperatorError, OracleError, UserError


class StorageError(OracleError):
    """The store could not do what it was asked to; the message says why."""


class StoreSetupError(StorageError, OperatorError):
    """The store cannot be opened as configured; the message says what to do."""


class StoreUnavailableError(StorageError, OperatorError):
    """The database cannot be used for now."""


class RunLostError(StorageError, InternalError):
    """Another worker has taken the run over; nothing more of it can be written here."""


class RunBrokenError(StorageError, InternalError):
    """Something of the run can never be written; what was written before stays, without gaps."""


class ConversationBusyError(StorageError, UserError):
    """The conversation is answering another query."""


class TooManyRunsError(StorageError, UserError):
    """The user has as many runs under way as one user may have."""


class KeyReusedError(StorageError, UserError):
    """The key of a request was used for another one."""


class AlreadyBegunError(StorageError, InternalError):
    """The request was sent before, and has its run.

    Args:
        run_id: its name.
    """

    def __init__(self, run_id: str) -> None:
        super().__init__(f"this request has begun the run {run_id!r} before")
        self.run_id = run_id
