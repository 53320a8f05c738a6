"""What can go wrong in the store; `oracle.core.errors` has the tree by who must act."""

from collections.abc import Sequence

from oracle.core.errors import InternalError, OperatorError, OracleError, UserError


class StorageError(OracleError):
    """Something that was asked of the store failed; the message says why."""


class StoreSetupError(StorageError, OperatorError):
    """The store cannot be opened as configured; the message says what to do."""


class StoreUnavailableError(StorageError, OperatorError):
    """The database cannot be used at present."""


class RunLostError(StorageError, InternalError):
    """Another worker has taken the run over; nothing more of it can be written here."""


class RunBrokenError(StorageError, InternalError):
    """A part of the run can never be written; its log so far stays, without gaps."""


class ConversationBusyError(StorageError, UserError):
    """The conversation is answering another query."""


class ConversationWaitsError(ConversationBusyError):
    """The query that the conversation is answering waits for a person; the message names what is open."""


class TooManyRunsError(StorageError, UserError):
    """The user has reached the number of concurrent runs."""


class KeyReusedError(StorageError, UserError):
    """The key of a request was used for another one."""


class AlreadyBegunError(StorageError, InternalError):
    """The request was sent before, and has a run.

    Args:
        run_id: the run that the earlier request has begun.
    """

    def __init__(self, run_id: str) -> None:
        super().__init__(f"this request has begun the run {run_id!r} before")
        self.run_id = run_id


class ConversationMovedError(StorageError, InternalError):
    """Another question of the client's conversation was begun since it was looked up; look again."""


class UnclearRunError(StorageError, UserError):
    """No run, or more than one, has an id that begins as was asked.

    Args:
        alike: ids that begin so, newest first.
    """

    def __init__(self, beginning: str, alike: Sequence[str] = ()) -> None:
        several = f"several runs have an id that begins with {beginning!r}: {', '.join(alike)}; give more of it"
        super().__init__(several if alike else f"there is no run {beginning!r}")
        self.beginning = beginning
        self.alike: tuple[str, ...] = tuple(alike)
