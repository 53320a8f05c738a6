"""Whether the store can be written."""

import time

import structlog

log = structlog.get_logger(__name__)

HANGS_S = 5.0
"""A commit that takes longer is a problem."""


class StoreHealth:
    """Whether the store can be written. Used in the event loop's thread, except for `commit_since_s`.

    Args:
        name: of the database, in the log.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._failure: str | None = None
        self._failing_since_s: float | None = None
        self.commit_since_s: float | None = None
        """When the current commit has started, by `time.monotonic`; set in the writer's thread."""

    @property
    def problem(self) -> str | None:
        """Why it cannot be written; `None` if it can."""
        if self._failure is not None:
            return self._failure
        return None if self._hangs_since_s() is None else "the database does not answer"

    @property
    def since_s(self) -> float | None:
        """When the problem has started, by `time.monotonic`; `None` if there is none."""
        return self._failing_since_s if self._failure is not None else self._hangs_since_s()

    def fail(self, problem: str, *, since_s: float) -> None:
        """Note that a commit that started at `since_s` has failed."""
        if problem != self._failure:
            log.error("store.became_unwritable", database=self._name, problem=problem)
        self._failing_since_s = since_s if self._failing_since_s is None else self._failing_since_s
        self._failure = problem

    def recover(self) -> None:
        """Note that a commit has succeeded."""
        if self._failure is not None and self._failing_since_s is not None:
            after_s = round(time.monotonic() - self._failing_since_s, 1)
            log.info("store.became_writable", database=self._name, after_s=after_s)
            self._failure = self._failing_since_s = None

    def _hangs_since_s(self) -> float | None:
        since_s = self.commit_since_s
        return since_s if since_s is not None and time.monotonic() - since_s > HANGS_S else None
