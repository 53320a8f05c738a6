"""Runs in a store, for tests that need some."""

from itertools import count

from oracle.runs.storage.records import NewRun, RunEnd, RunRecord
from oracle.runs.storage.store import Store

_NUMBERS = count(1)


async def begun(
    store: Store,
    *,
    user_id: str = "ann",
    context_id: str | None = None,
    tree: str = "oracle",
    tree_sha: str | None = None,
    question: str = "Secret question?",
):
    """A run under way, and the writing end of its log. Without a `context_id` it begins a conversation."""
    number = next(_NUMBERS)
    new = NewRun(
        id=f"run-{number:06}",
        user_id=user_id,
        context_id=context_id or f"conversation-{number:06}",
        tree=tree,
        input={"question": question},
        limits={"max_iterations": 15},
        timeout_s=120.0,
        begins_conversation=context_id is None,
        tree_sha=tree_sha,
    )
    record = await store.runs.begin(new)
    return record, store.log.writer(record)


async def ended(store: Store, *, chunks: int = 3, chunk_bytes: int = 20, **more: str | None) -> RunRecord:
    """A run that has said its chunks and is done."""
    record, log = await begun(store, **more)
    text = b'"' + b"s" * chunk_bytes + b'"'
    for _ in range(chunks):
        log.chunk(text)
    end = RunEnd("completed", "Secret answer.", 2, 321, False, "model-1", {"error": "E", "error_type": "internal"})
    await log.finish(b'{"type":"done"}', end)
    found = await store.runs.find(record.id)
    assert found is not None
    return found
