"""The errors of the store; `oracle.core.errors` has the tree by who must act."""

import logging
from collections.abc import Sequence

from oracle.core.errors import InternalError, OperatorError, OracleError, UserError

_NO_STORE = "The service cannot reach its store for now; come back in a moment."


class StorageError(OracleError):
    """A request to the store failed; the message says why."""


class StoreSetupError(StorageError, OperatorError):
    """The store cannot be opened as configured; the message says what to do."""


class StoreUnavailableError(StorageError, OperatorError):
    """The database cannot be used at present."""

    detail = _NO_STORE
    log_level = logging.WARNING


class RunLostError(StorageError, InternalError):
    """Another worker has taken the run over; nothing more of it can be written here."""

    status = 503
    detail = _NO_STORE
    log_event = "request.refused"
    log_level = logging.WARNING


class RunBrokenError(StorageError, InternalError):
    """A part of the run can never be written; its log so far stays, without gaps."""


class ConversationBusyError(StorageError, UserError):
    """The conversation is answering another question."""

    status = 409
    detail: str | None = "The conversation is answering another question; wait for its end, or cancel it."


class TooManyRunsError(StorageError, UserError):
    """The user has reached the number of concurrent runs."""

    status = 429
    detail = "You have reached the number of concurrent runs; wait until one has ended, or cancel one."


class KeyReusedError(StorageError, UserError):
    """The key of a request was used for another one."""

    loc = ("header", "Idempotency-Key")


class AlreadyBegunError(StorageError, InternalError):
    """The request was sent before, and has a run.

    Args:
        run_id: the run that the earlier request has begun.
    """

    def __init__(self, run_id: str) -> None:
        super().__init__(f"an earlier request with this key has begun the run {run_id!r}")
        self.run_id = run_id


class ConversationMovedError(StorageError, InternalError):
    """Another question of the client's conversation was begun since it was looked up; look again."""


class UnclearRunError(StorageError, UserError):
    """No run, or more than one, has an id that begins as was asked.

    Args:
        alike: ids that begin so, newest first.
    """

    def __init__(self, beginning: str, alike: Sequence[str] = ()) -> None:
        several = f"several runs have an id that begins with {beginning!r}: {', '.join(alike)}; give more characters"
        super().__init__(several if alike else f"there is no run {beginning!r}")
        self.beginning = beginning
        self.alike: tuple[str, ...] = tuple(alike)
