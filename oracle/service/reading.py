"""Reading a run along: as a stream, or whole."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from oracle.service.parts import ServiceParts
from oracle.service.sse import EventStream
from oracle.storage import RunRecord


def run_path(run_id: str) -> str:
    """The address of a run."""
    return f"/api/oracle/runs/{run_id}"


def run_headers(run_id: str) -> dict[str, str]:
    """What tells a client which run it reads, before the first chunk."""
    return {"X-Run-Id": run_id, "Location": run_path(run_id)}


def open_stream(parts: ServiceParts, run: RunRecord, *, after: int = 0) -> EventStream:
    """The run's chunks after a number, and those to come."""
    return EventStream(
        parts.store.log.follow(run.id, after=after),
        headers=run_headers(run.id),
        reading=_reading(parts, run),
        timing=parts.timing,
        streams=parts.streams,
        is_stalled=lambda: is_stalled(parts),
    )


@contextmanager
def attached(parts: ServiceParts, run: RunRecord) -> Iterator[None]:
    """A reader of the run is there; nobody needs to know once it has ended."""
    if run.status == "running":
        with parts.runs.attach(run):
            yield
    else:
        yield


def is_stalled(parts: ServiceParts) -> bool:
    """Whether the store has been out of order for so long that nobody should wait on."""
    health = parts.store.health
    return health.since_s is not None and time.monotonic() - health.since_s > parts.timing.patience_s


@contextmanager
def _reading(parts: ServiceParts, run: RunRecord) -> Iterator[None]:
    parts.metrics.stream_opened()
    try:
        with attached(parts, run):
            yield
    finally:
        parts.metrics.stream_closed()
