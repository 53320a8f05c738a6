"""Reads the history of a run from the store."""

from bt_runtime import Registry
from oracle.histories.explaining import Explainer
from oracle.histories.model import History
from oracle.storage import Archive, RunRecord


async def read_history(archive: Archive, record: RunRecord, *, registry: Registry) -> History:
    """Everything that the store has of a run, with the reasons as far as it can be repeated.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    version = await archive.tree(record.tree_sha) if record.tree_sha else None
    explainer = Explainer(record, version, registry=registry)
    if record.forgotten_at is None:
        for event in await archive.events(record.id):
            explainer.feed(event)
    explainer.ended(record)
    return explainer.history
