"""Whether the store can be written, for whoever waits for it or shows it."""

import time

import structlog

log = structlog.get_logger(__name__)

HANGS_S = 5.0
"""A commit that takes longer than this is a problem."""


class StoreHealth:
    """Whether the store can be written. Changed in the event loop's thread, but for the beginning of a commit.

    Args:
        name: what the database is called in the log.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._told: str | None = None
        self._told_since_s: float | None = None
        self.commit_since_s: float | None = None
        """Since when the commit under way is; set in the writer's thread."""

    @property
    def problem(self) -> str | None:
        """Why it cannot be written; `None` if it can."""
        if self._told is not None:
            return self._told
        return None if self._hangs_since_s() is None else "the database does not answer"

    @property
    def since_s(self) -> float | None:
        """Since when, by `time.monotonic`; `None` if there is no problem."""
        return self._told_since_s if self._told is not None else self._hangs_since_s()

    def have(self, problem: str, *, since_s: float) -> None:
        """A commit that began at `since_s` has failed."""
        if problem != self._told:
            log.error("store.became_unwritable", database=self._name, problem=problem)
        self._told_since_s = since_s if self._told_since_s is None else self._told_since_s
        self._told = problem

    def recover(self) -> None:
        """A commit was done."""
        if self._told is not None and self._told_since_s is not None:
            after_s = round(time.monotonic() - self._told_since_s, 1)
            log.info("store.became_writable", database=self._name, after_s=after_s)
            self._told = self._told_since_s = None

    def _hangs_since_s(self) -> float | None:
        since_s = self.commit_since_s
        return since_s if since_s is not None and time.monotonic() - since_s > HANGS_S else None
