"""Runs over a real store in tests: a manager, an `Oracle` with a scripted model, and what the log has of a run."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from bt_runtime.testing import FakeClock
from oracle.agent.answering import Ask
from oracle.agent.conversations.protocol import Conversation
from oracle.agent.nodes import REGISTRY
from oracle.core.metrics import Metrics
from oracle.features.debugging.foresight import foresight_of
from oracle.runs.debugging.debugger import Debugger
from oracle.runs.live import LiveRun
from oracle.runs.manager import RunManager
from oracle.runs.options import Follower, RunOptions
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.store import Store
from oracle.tools import Tool, ToolResult
from tests.acceptance.harness import CODE_QUESTION, Harness, harness
from tests.support.provider import Reply

PATIENCE_S = 20.0
"""A guard: what takes longer hangs."""


@dataclass(frozen=True, slots=True)
class Told:
    """A run as its log, its row and its conversation tell it."""

    chunks: list[dict[str, Any]]
    record: RunRecord
    conversation: Conversation | None

    @property
    def types(self) -> list[str]:
        """Of the chunks, in order."""
        return [chunk["type"] for chunk in self.chunks]

    @property
    def text(self) -> str:
        """The content chunks joined."""
        return "".join(chunk["content"] for chunk in self.chunks if chunk["type"] == "content")

    @property
    def done(self) -> dict[str, Any]:
        """The last chunk."""
        return self.chunks[-1]

    @property
    def kept(self) -> list[str]:
        """What the conversation keeps as answers of this run."""
        assert self.conversation is not None
        return [
            each.content
            for each in self.conversation.messages
            if each.role == "assistant" and each.metadata.get("run_id") == self.record.id
        ]

    def check(self) -> "Told":
        """The rules that hold for every run that has ended, however it ended."""
        assert self.types.count("done") == 1
        assert self.types[-1] == "done"
        assert self.record.status == "finished"
        assert self.record.finished_at is not None
        assert self.record.answer == self.text
        assert self.kept == ([self.text] if self.text else [])
        for name in ("termination_reason", "tokens_used", "tokens_estimated", "model_used", "turns"):
            assert self.done[name] == getattr(self.record, name), name
        usage = {name: tokens for name, tokens in self.done.get("usage", {}).items() if name != "cache_read_tokens"}
        assert sum(usage.values()) == self.done["tokens_used"]
        called = [chunk["tool_call"]["id"] for chunk in self.chunks if chunk["type"] == "tool_call"]
        assert sorted(called) == sorted(c["tool_call_id"] for c in self.chunks if c["type"] == "tool_result")
        if self.record.termination_reason not in ("completed", "user_cancelled"):
            assert self.text.rpartition("\n\n")[2].startswith("Stopped: ")
        return self


@dataclass(slots=True)
class Managed:
    """A manager at work on a store."""

    manager: RunManager
    store: Store
    harness: Harness
    clock: FakeClock
    metrics: Metrics = field(default_factory=Metrics)
    debugger: Debugger | None = None

    async def start(self, question: str = CODE_QUESTION, **ask: Any) -> LiveRun:
        """Ask."""
        return await self.manager.start(Ask(question, **ask))

    async def ask(self, question: str = CODE_QUESTION, **ask: Any) -> Told:
        """Ask, and wait for the end."""
        return await self.told((await self.start(question, **ask)).record)

    async def told(self, record: RunRecord) -> Told:
        """Wait for the end of a run, whichever worker has it, and read what is kept of it."""
        return await told(self.store, record)

    async def until_text(self, record: RunRecord, text: str) -> None:
        """Wait until the committed chunks say this."""
        said = ""
        async with asyncio.timeout(PATIENCE_S):
            async for batch in self.store.log.follow(record.id):
                chunks = [json.loads(chunk.data) for chunk in batch]
                said += "".join(chunk["content"] for chunk in chunks if chunk["type"] == "content")
                if text in said:
                    return
        raise AssertionError(f"the run ended before it said {text!r}: {said!r}")


async def told(store: Store, record: RunRecord) -> Told:
    """Wait for the end of a run, and read what is kept of it."""
    chunks: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE_S):
        async for batch in store.log.follow(record.id):
            for chunk in batch:
                assert chunk.n == len(chunks) + 1
                chunks.append(json.loads(chunk.data))
    ended = await store.runs.find(record.id)
    assert ended is not None
    return Told(chunks, ended, await store.conversations.load(record.user_id, record.context_id)).check()


@asynccontextmanager
async def managed(
    store: Store,
    turns: Iterable[Reply] = (),
    *,
    options: RunOptions | None = None,
    clock: FakeClock | None = None,
    new_id: Callable[[], str] = lambda: uuid4().hex,
    debug_lease_s: float | None = None,
    foresees: bool = True,
    follower_of: Callable[[Harness, Metrics], Follower] | None = None,
    goes_on: bool = True,
    now: Callable[[], float] = time.time,
    **oracle: Any,
) -> AsyncIterator[Managed]:
    """A manager over the store; time stands still unless the clock is moved.

    Args:
        store: has the runs.
        turns: of the model.
        options: of the manager.
        clock: of the process.
        new_id: makes ids.
        debug_lease_s: of a debugger; `None`: runs cannot be debugged.
        foresees: the debugger holds runs before nodes begin.
        follower_of: makes what gets the ended runs.
        now: seconds since the epoch.
        goes_on: its runs can go on in another process; those of earlier versions could not.
        oracle: of the harness.
    """
    clock = clock or FakeClock(jump=False)
    oracle.setdefault("wire", False)
    async with harness(turns, clock=clock, conversations=store.conversations, **oracle) as it:  # type: ignore[arg-type]
        metrics = Metrics()
        debugger = None
        if debug_lease_s is not None:
            debugger = Debugger(
                store,
                registry=REGISTRY,
                lease_s=debug_lease_s,
                clock=clock,
                foresight=foresight_of(store, REGISTRY) if foresees else None,
            )
        manager = RunManager(
            it.oracle,
            store,
            options=options or RunOptions(),
            metrics=metrics,
            new_id=new_id,
            clock=clock,
            now=now,
            versions=("oracle-bt 1",) if goes_on else (),
        )
        if debugger is not None:
            manager.debugger = debugger
        if follower_of is not None:
            manager.follow(follower_of(it, metrics))
        async with manager:
            yield Managed(manager, store, it, clock, metrics, debugger)


class Gate:
    """A tool's call that waits until it is let through."""

    def __init__(self, text: str = "done") -> None:
        self.begun = asyncio.Event()
        self.open = asyncio.Event()
        self.text = text

    async def __call__(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Wait, then answer."""
        self.begun.set()
        await self.open.wait()
        return ToolResult(self.text)


async def settle() -> None:
    """Let the other tasks of this loop do what they can without waiting."""
    for _ in range(10):
        await asyncio.sleep(0)


__all__ = ["CODE_QUESTION", "PATIENCE_S", "Gate", "Managed", "Told", "Tool", "managed", "settle", "told"]
