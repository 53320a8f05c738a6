"""Short ways to what storage tests need again and again."""

import json
from collections.abc import Callable
from typing import Any

from oracle.runs.storage.records import NewRun, RunEnd, RunRecord
from oracle.runs.storage.run_log import RunLog
from oracle.runs.storage.run_pages import RunFilter
from oracle.runs.storage.store import Store


class Hands:
    """A clock that is moved by hand."""

    at_s = 1_000_000.0

    def __call__(self) -> float:
        return self.at_s


END = RunEnd("completed", "Hello.", turns=1, tokens_used=12, tokens_estimated=False, model_used="scripted")
DONE = b'{"type":"done"}'


def new_run(run_id: str = "run-1", **changes: Any) -> NewRun:
    """A run of ann's that begins a conversation of its own."""
    fields = {"user_id": "ann", "context_id": f"context-of-{run_id}", "tree": "oracle", "timeout_s": 120.0}
    return NewRun(run_id, **{**fields, "input": {"question": "Why?"}, "limits": {}, **changes})


async def begun(store: Store, run_id: str = "run-1", **changes: Any) -> RunLog:
    """The writing end of a run that has just begun."""
    return store.log.writer(await store.runs.begin(new_run(run_id, **changes)))


async def beats(store: Store) -> dict[str, float]:
    """The other workers that have runs, with their last heartbeats."""
    return {name: seen.beat_at for name, seen in (await store.claims.sightings()).workers.items()}


def content(text: object) -> bytes:
    """A chunk."""
    return json.dumps({"type": "content", "content": text}).encode()


async def heard(
    store: Store, run_id: str = "run-1", *, after: int = 0, each: Callable[[int], None] = lambda n: None
) -> list[int]:
    """The numbers of all chunks that a follower gets, until its run's end."""
    numbers: list[int] = []
    async for batch in store.log.follow(run_id, after=after):
        numbers += [chunk.n for chunk in batch]
        each(numbers[-1])
    return numbers


async def latest(
    store: Store, *, user_id: str | None, limit: int = 99, before: str | None = None, context_id: str | None = None
) -> list[RunRecord]:
    """Runs of a user, or of all users, newest first."""
    return (await store.runs.page(RunFilter(user_id=user_id, context_id=context_id), limit=limit, before=before)).runs
