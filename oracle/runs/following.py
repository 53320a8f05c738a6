"""What goes on after the runs of a process have ended."""

from typing import Protocol

from oracle.runs.storage.records import RunRecord


class Follower(Protocol):
    """Does something with ended runs; it never raises, and never makes a run wait."""

    def offer(self, run: RunRecord, reason: str) -> None:
        """Take note of a run of this process that has ended, and why."""
        ...

    def note_active(self, queries: int) -> None:
        """Take note of how many queries are under way in this process, whenever the number has changed."""
        ...

    def cancel(self, run_id: str) -> bool:
        """End a run of its own; returns whether there is such a run here."""
        ...

    def forget(self, user_id: str, context_id: str) -> None:
        """End and drop what comes from the runs of a user's conversation, because it is being deleted."""
        ...

    async def stop(self) -> None:
        """End everything, because the service is stopping."""
        ...


class NoFollower:
    """Does nothing."""

    def offer(self, run: RunRecord, reason: str) -> None:
        """Ignore the run."""

    def note_active(self, queries: int) -> None:
        """Ignore the number."""

    def cancel(self, run_id: str) -> bool:  # noqa: ARG002
        """There is none."""
        return False

    def forget(self, user_id: str, context_id: str) -> None:
        """Nothing comes from its runs."""

    async def stop(self) -> None:
        """Nothing is under way."""
