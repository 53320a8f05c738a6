"""Logs of recorded runs, as the store has them, whole and in part."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bt_runtime import Registry
from oracle.agent.nodes import REGISTRY
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.explaining import Explainer
from oracle.replay.histories.model import History
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import LogEntry, RunRecord
from oracle.runs.storage.trees import TreeVersion


@dataclass(frozen=True, slots=True)
class Log:
    """What the store has of a run."""

    record: RunRecord
    version: TreeVersion | None
    events: Sequence[LogEntry]

    @property
    def underway(self) -> RunRecord:
        """The row as it was before the end."""
        return replace(
            self.record,
            status="running",
            finished_at=None,
            termination_reason=None,
            answer=None,
            error=None,
            turns=None,
            tokens_used=None,
            tokens_estimated=None,
            model_used=None,
        )

    def explained(
        self,
        events: Iterable[LogEntry] | None = None,
        *,
        is_over: bool = True,
        registry: Registry = REGISTRY,
        ticks: range | None = None,
    ) -> History:
        """The history after these events; `None`: all."""
        record = self.record if is_over else self.underway
        explainer = Explainer(record, self.version, registry=registry, ticks=ticks)
        explainer.feed_all(self.events if events is None else events)
        explainer.ended(record)
        return explainer.history


async def log_of(archive: Archive, record: RunRecord) -> Log:
    """What the store has of a run."""
    version = await archive.tree(record.tree_sha) if record.tree_sha else None
    return Log(record, version, await archive.events(record.id))


def is_same(history: History, other: History) -> bool:
    """Whether two histories have the same JSON."""
    return history_to_json(history) == history_to_json(other)
