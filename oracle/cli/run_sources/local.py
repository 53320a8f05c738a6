"""Runs of a database, which a service may be writing, and next to them those that were imported."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bt_runtime.text.data import dataclass
from oracle.cli.errors import CommandError
from oracle.cli.run_sources.protocol import ListedRun
from oracle.core.chunks import Chunk, read_chunk
from oracle.replay.histories.codec import keep_history, kept_history
from oracle.replay.histories.model import DELETED, History, run_facts
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.errors import StoreSetupError, UnclearRunError
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.run_pages import RunFilter
from oracle.server.settings.fields import Settings

if TYPE_CHECKING:  # a list of runs needs no node kinds and no imported runs, which are slow to load
    from bt_runtime import Registry
    from oracle.replay.exports.imported import ImportedRuns
    from oracle.runs.storage.interrupts import Answerer

FOLDER: Final = "imports"
_SILENT_S: Final = 30.0
"""A worker writes a heartbeat every second, by the clock of the database, which may differ from this machine's."""


def imported_runs(settings: Settings) -> "ImportedRuns":
    """The imported runs of the data folder."""
    from oracle.replay.exports.imported import ImportedRuns  # noqa: PLC0415  slow to load

    return ImportedRuns(Path(settings.data_dir) / FOLDER)


@dataclass(frozen=True, slots=True)
class LocalSource:
    """The runs of a database; those that it does not have are looked for among the imported ones.

    Args:
        archive: the database; or why there is none, which every call says that finds no imported run.
        registry: makes the node kinds of today.
        imported: opens the imported runs, which lists leave out.
    """

    archive: Archive | StoreSetupError
    registry: "Callable[[], Registry]"
    imported: "Callable[[], ImportedRuns]"

    async def list(self, wanted: RunFilter, *, limit: int) -> Sequence[ListedRun]:
        """The newest of those runs of the database."""
        records = await self._archive().matching(wanted, limit=limit)
        return [ListedRun(run_facts(record), record.summary) for record in records]

    async def pending(self) -> Sequence[dict[str, Any]]:
        """The first hundred of them; who may read the database answers as the user `local`, an operator."""
        from oracle.runs.storage.interrupts import pending_of  # noqa: PLC0415  slow to load

        found = await self._archive().database.read(partial(pending_of, user_id=None, limit=100))
        return [each.to_listed(_local_operator()) for each in found]

    async def answer(self, run: str, delivery: Mapping[str, Any]) -> None:
        """Answer one of them."""
        from oracle.runs.storage.interrupts import Delivery  # noqa: PLC0415  slow to load
        from oracle.runs.storage.store import open_store  # noqa: PLC0415

        decision = Delivery(scope=delivery.get("for", "once"), **{k: v for k, v in delivery.items() if k != "for"})
        url = self._archive().database.url.render_as_string(hide_password=False)
        async with open_store(url, worker="oracle pending") as store:
            await store.interrupts.answer(run, [decision], by=_local_operator())

    async def history(self, run: str) -> History:
        """Everything that is known of the run."""
        found = await self._find(run)
        return found if isinstance(found, History) else await self._recorded(found)

    async def follow(self, run: str) -> AsyncGenerator[History, None]:
        """The history as it grows, looked at when something was committed; that of a run that has ended at once."""
        from oracle.replay.histories.explaining import Explainer  # noqa: PLC0415  slow to load
        from oracle.replay.histories.reading import event_pages  # noqa: PLC0415

        found = await self._find(run)
        if isinstance(found, History) or found.status == "finished":
            yield found if isinstance(found, History) else await self._recorded(found)
            return
        archive, record = self._archive(), found
        version = await archive.tree(record.tree_sha) if record.tree_sha else None
        explainer = await asyncio.to_thread(Explainer, record, version, registry=self.registry())
        seq, is_first = 0, True
        async with aclosing(archive.changes()) as changes:
            async for _ in changes:
                record = await archive.find(record.id)  # before its events: those of its end are there then
                is_new = is_first or record.status == "finished"
                is_first = False
                explainer.history.run = run_facts(record)
                async for page in event_pages(archive, record, after_seq=seq):
                    await asyncio.to_thread(explainer.feed_all, page)
                    seq, is_new = page[-1].seq, True
                if record.status == "finished":
                    explainer.ended(record)
                if is_new:
                    yield explainer.history
                if record.status == "finished":
                    return

    async def chunks(self, run: str) -> AsyncGenerator[Chunk, None]:
        """The chunks, looked at when something was committed."""
        found = await self._find(run)
        if isinstance(found, History) or found.kept != "whole":
            problem = "it was imported" if isinstance(found, History) else DELETED[found.kept]
            raise CommandError(f"the chunks of the run {run!r} cannot be read: {problem}")
        archive, record, seq = self._archive(), found, 0
        async with aclosing(archive.changes()) as changes:
            async for _ in changes:
                record = await archive.find(record.id)  # before its chunks: the last one is there then
                for event in await archive.events(record.id, kinds={"chunk"}, after_seq=seq):
                    seq = event.seq
                    yield read_chunk(event.data)
                if record.status == "finished":
                    return

    def _archive(self) -> Archive:
        if isinstance(self.archive, StoreSetupError):
            raise self.archive
        return self.archive

    async def _find(self, run: str) -> RunRecord | History:
        """The row of a run of the database, or the history of an imported one.

        Raises:
            UnclearRunError: neither has the run, or more than one begins so.
            StoreSetupError: there is no database, and no such imported run.
        """
        error: StoreSetupError | UnclearRunError
        try:
            return await self._archive().find(run)
        except (StoreSetupError, UnclearRunError) as raised:
            error = raised
        is_unclear = isinstance(error, UnclearRunError) and bool(error.alike)
        imported = None if is_unclear else self.imported().find(run)
        if imported is None:
            raise error
        return imported

    async def _recorded(self, record: RunRecord) -> History:
        history = await kept_history(self._archive(), record)
        if history is None:
            from oracle.replay.histories.reading import read_history  # noqa: PLC0415  slow to load

            history = await read_history(self._archive(), record, registry=self.registry())
            await keep_history(self._archive(), record, history)
        beat_at = await self._archive().last_beat(record.worker) if record.status == "running" else None
        if beat_at is not None and (silent := _silence(time.time() - beat_at)):
            history.problem = "; ".join(filter(None, (history.problem, silent)))
        return history


def _local_operator() -> "Answerer":
    from oracle.runs.storage.interrupts import Answerer  # noqa: PLC0415  slow to load

    return Answerer("local", is_operator=True)


def _silence(quiet_s: float) -> str:
    """The problem of a run whose worker was last heard of this long ago; empty if the worker probably lives."""
    if quiet_s < _SILENT_S:
        return ""
    last = f"the last heartbeat of its service was {quiet_s:,.0f} s ago"
    return f"{last}; if it died, the run continues when a service starts"
