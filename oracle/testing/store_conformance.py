"""What every store of runs keeps to: a suite for SQLite, PostgreSQL, and stores of other people.

A test class that derives from `StoreConformance` in a module with a fixture `store` gets all its tests:

    class TestMyStore(StoreConformance):
        pass

    @pytest.fixture
    def store() -> MyStore: ...

The store is empty, its worker is the only one, and it has the parts of `RunStore`. What it is asked for is what the log
of a run needs (docs/internals/event-log.md): numbers without gaps, nothing shown before it is durable, one end,
one owner.
"""
# ruff: noqa: S101  these are tests

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Collection, Mapping, Sequence
from typing import Any, Protocol

from oracle.runs.storage.errors import ConversationBusyError, RunLostError
from oracle.runs.storage.records import ChunkPage, EventKind, LogEntry, NewRun, Places, RunEnd, RunRecord, StoredChunk

_PATIENCE_S = 20.0
_DONE = b'{"type":"done"}'
_END = RunEnd("completed", "Hello.", turns=1, tokens_used=12, tokens_estimated=False, model_used="scripted")


class LogWriter(Protocol):
    """The writing end of one run's log, as `oracle.runs.storage.run_log.RunLog` is."""

    def append(self, kind: EventKind, data: bytes, *, step_key: str | None = None) -> None:
        """Append an event that is no chunk; never waits."""
        ...

    def chunk(self, data: bytes) -> int:
        """Append a chunk; returns its number."""
        ...

    async def flush(self) -> None:
        """Wait until everything appended so far is durable."""
        ...

    async def finish(self, done: bytes, end: RunEnd) -> None:
        """Write the last chunk and the end of the run's row in one commit."""
        ...

    async def leave(self, *, is_parked: bool, wake_at: float | None = None) -> None:
        """Give the run, as it was written so far, to who claims it; a parked one only after it was woken."""
        ...


class RunRows(Protocol):
    """The rows of runs, as `oracle.runs.storage.runs.RunTable` has them."""

    async def begin(self, new: NewRun, *, places: Places = ...) -> RunRecord:
        """Write the row of a run, which waits for a worker if there is no place for it."""
        ...

    async def find(self, run_id: str, *, user_id: str | None = None) -> RunRecord | None:
        """The row of a run; `None` if the user has no such run."""
        ...


class RunOwners(Protocol):
    """Who runs what, as `oracle.runs.storage.claims.RunClaims` has it."""

    async def take_over(self, silent: Mapping[str, float] | None) -> Sequence[RunRecord]:
        """Make this worker the owner of running runs, with a new epoch; `None`: of all."""
        ...

    async def claim(self, most: int, places: Places = ...) -> Sequence[RunRecord]:
        """Make this worker the owner of runs that wait for one, with a new epoch."""
        ...


class RunEvents(Protocol):
    """The events of all runs, as `oracle.runs.storage.log.EventLog` has them."""

    def writer(self, run: RunRecord, *, seq: int = 0, chunk_n: int = 0) -> LogWriter:
        """What appends to the log of a run, behind these numbers."""
        ...

    async def events(
        self,
        run_id: str,
        *,
        kinds: Collection[EventKind] | None = None,
        after_seq: int = 0,
        limit: int = 1000,
        max_bytes: int | None = None,
    ) -> Sequence[LogEntry]:
        """The durable events behind a number, in order."""
        ...

    async def page(self, run_id: str, *, user_id: str | None = None, after: int = 0) -> ChunkPage | None:
        """The first durable chunks behind a number."""
        ...

    def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[Sequence[StoredChunk], None]:
        """The durable chunks behind a number, as they come, until the last one."""
        ...

    async def last_chunk(self, run_id: str) -> int:
        """The number of the last durable chunk; 0 if there is none."""
        ...


class RunStore(Protocol):
    """The part of a store that the log of a run needs."""

    @property
    def runs(self) -> RunRows:
        """The rows."""
        ...

    @property
    def claims(self) -> RunOwners:
        """Their owners."""
        ...

    @property
    def log(self) -> RunEvents:
        """The events."""
        ...


def _new(run_id: str = "run-1", **changes: Any) -> NewRun:  # noqa: ANN401  fields of `NewRun`
    fields = {"user_id": "ann", "context_id": f"context-of-{run_id}", "tree": "oracle", "timeout_s": 120.0}
    return NewRun(run_id, **{**fields, "input": {"question": "Why?"}, "limits": {}, **changes})


async def _begun(store: RunStore, run_id: str = "run-1", **changes: Any) -> LogWriter:  # noqa: ANN401  the same
    return store.log.writer(await store.runs.begin(_new(run_id, **changes)))


def _content(text: object) -> bytes:
    return f'{{"type":"content","content":"{text}"}}'.encode()


async def _heard(store: RunStore, run_id: str = "run-1", *, after: int = 0) -> list[int]:
    async with asyncio.timeout(_PATIENCE_S):
        return [chunk.n async for batch in store.log.follow(run_id, after=after) for chunk in batch]


async def _refuses(work: Awaitable[object], error: type[Exception]) -> bool:
    try:
        await work
    except error:
        return True
    return False


class StoreConformance:
    """The tests; see the module for how they are used."""

    async def test_what_was_written_is_read_in_order_and_whole(self, store: RunStore) -> None:
        """Any text comes back as it was, in its order."""
        log = await _begun(store)
        texts = ("plain", "Grüße 🌳", "\\u0000 and \\u001f", "\ufffd", "'; DROP TABLE event; --", "\\\\N\\t\\n")
        said = [_content(text) for text in texts]
        assert [log.chunk(data) for data in said] == [1, 2, 3, 4, 5, 6]
        await log.finish(_DONE, _END)
        got = [chunk async for batch in store.log.follow("run-1") for chunk in batch]
        assert [chunk.data for chunk in got] == [*said, _DONE]
        assert [chunk.n for chunk in got] == [1, 2, 3, 4, 5, 6, 7]

    async def test_everything_has_a_number_and_chunks_have_their_own(self, store: RunStore) -> None:
        """Events are numbered in the order in which they were appended."""
        log = await _begun(store)
        log.append("tick", b"{}")
        log.chunk(_content("a"))
        log.append("turn_end", b'{"text":"a"}', step_key="turn:1")
        log.chunk(_content("b"))
        await log.flush()
        events = await store.log.events("run-1")
        assert [(event.seq, event.kind, event.chunk_n, event.step_key) for event in events] == [
            (1, "tick", None, None),
            (2, "chunk", 1, None),
            (3, "turn_end", None, "turn:1"),
            (4, "chunk", 2, None),
        ]
        assert events[2].data == b'{"text":"a"}'
        assert [event.at for event in events] == sorted(event.at for event in events)
        assert [event.seq for event in await store.log.events("run-1", kinds=["chunk"])] == [2, 4]
        assert [event.seq for event in await store.log.events("run-1", after_seq=1, limit=2)] == [2, 3]
        assert await store.log.last_chunk("run-1") == 2

    async def test_events_are_read_up_to_a_number_of_bytes_and_one_at_least(self, store: RunStore) -> None:
        """A page is bounded in bytes, except for its first event."""
        log = await _begun(store)
        for size in (300, 300, 300):
            log.append("tick", b'"%b"' % (b"x" * size))
        await log.flush()
        assert [event.seq for event in await store.log.events("run-1", max_bytes=1)] == [1]
        assert [event.seq for event in await store.log.events("run-1", max_bytes=5_000)] == [1, 2, 3]

    async def test_many_runs_at_once_have_no_gaps_and_no_mix_up(self, store: RunStore) -> None:
        """Runs that write at the same time do not touch each other."""

        async def live(name: str) -> None:
            log = await _begun(store, name)
            follower = asyncio.create_task(_heard(store, name))
            for number in range(40):
                log.chunk(_content(f"{name} {number}"))
                log.append("tick", b"{}")
                await asyncio.sleep(0)
            await log.finish(_DONE, _END)
            assert await follower == list(range(1, 42))
            kept = [chunk.data async for batch in store.log.follow(name) for chunk in batch]
            assert kept == [*(_content(f"{name} {number}") for number in range(40)), _DONE]

        await asyncio.gather(*(live(f"run-{number}") for number in range(20)))

    async def test_what_a_follower_gets_is_durable_already(self, store: RunStore) -> None:
        """Nothing is shown before its commit."""
        log = await _begun(store)

        async def follow() -> None:
            async for batch in store.log.follow("run-1"):
                assert await store.log.last_chunk("run-1") >= batch[-1].n

        follower = asyncio.create_task(follow())
        for number in range(50):
            log.chunk(_content(number))
            await asyncio.sleep(0)
        await log.finish(_DONE, _END)
        async with asyncio.timeout(_PATIENCE_S):
            await follower

    async def test_a_follower_gets_every_chunk_once_wherever_it_joins(self, store: RunStore) -> None:
        """Before, within and behind what was written, while it is written and afterwards."""
        log = await _begun(store)
        followers = []
        for number in range(30):
            log.chunk(_content(number))
            followers += [(after, asyncio.create_task(_heard(store, after=after))) for after in (0, number)]
            await asyncio.sleep(0)
        await log.finish(_DONE, _END)
        for after, follower in followers:
            assert await follower == list(range(after + 1, 32))
        for after in (0, 1, 30, 31, 99):
            assert await _heard(store, after=after) == list(range(after + 1, 32))

    async def test_a_page_says_whether_the_run_has_more(self, store: RunStore) -> None:
        """Only behind the last chunk of a run that has ended there is nothing to wait for."""
        log = await _begun(store)
        log.chunk(_content("a"))
        await log.flush()
        assert await store.log.page("run-1") == ([(1, _content("a"))], False)
        assert await store.log.page("run-1", after=1) == ([], False)
        await log.finish(_DONE, _END)
        assert await store.log.page("run-1", after=1) == ([(2, _DONE)], True)
        assert await store.log.page("run-1", after=2) == ([], True)

    async def test_a_run_is_its_users_alone(self, store: RunStore) -> None:
        """No user learns whether another one has a run."""
        await (await _begun(store)).finish(_DONE, _END)
        assert await store.log.page("run-1", user_id="ann") == ([(1, _DONE)], True)
        assert await store.log.page("run-1", user_id="bob") is None
        assert await store.runs.find("run-1", user_id="ann") is not None
        assert await store.runs.find("run-1", user_id="bob") is None

    async def test_what_is_no_name_names_nothing(self, store: RunStore) -> None:
        """Names come from outside, and may be anything."""
        for run_id in ("nobody", "", "a\x00b", "\ud800", "ü", "x" * 1000):
            assert await store.runs.find(run_id) is None
            assert await store.log.page(run_id) is None
            assert await store.log.events(run_id) == []
            assert await store.log.last_chunk(run_id) == 0
            assert await _heard(store, run_id) == []

    async def test_a_run_is_found_as_it_was_begun(self, store: RunStore) -> None:
        """The row has what was asked for, and no end."""
        run = await store.runs.begin(_new(input={"question": "Wo? 🌳 \x00"}, limits={"max_iterations": 3}))
        assert (run.status, run.epoch, run.input, run.limits) == (
            "running",
            1,
            {"question": "Wo? 🌳 \x00"},
            {"max_iterations": 3},
        )
        assert (run.termination_reason, run.answer, run.error, run.finished_at) == (None, None, None, None)
        assert await store.runs.find("run-1") == run

    async def test_a_conversation_answers_one_query_at_a_time(self, store: RunStore) -> None:
        """A second query is refused until the first has ended, and one of many wins."""
        log = await _begun(store, "first", context_id="c")
        again = [_new(f"run-{number}", context_id="c", begins_conversation=False) for number in range(5)]
        assert await _refuses(store.runs.begin(again[0]), ConversationBusyError)
        await log.finish(_DONE, _END)
        found = await asyncio.gather(*(store.runs.begin(new) for new in again), return_exceptions=True)
        assert sum(isinstance(each, RunRecord) for each in found) == 1
        assert sum(isinstance(each, ConversationBusyError) for each in found) == len(again) - 1

    async def test_finishing_twice_ends_once_and_nothing_comes_after(self, store: RunStore) -> None:
        """The last chunk, the last event and the row are one commit, made once."""
        log = await _begun(store)
        log.chunk(_content("a"))
        await asyncio.gather(log.finish(_DONE, _END), log.finish(_DONE, _END))
        log.append("tick", b"{}")
        log.chunk(_content("too late"))
        await log.flush()
        events = await store.log.events("run-1")
        assert [(event.kind, event.chunk_n) for event in events] == [("chunk", 1), ("chunk", 2), ("final", None)]
        run = await store.runs.find("run-1")
        assert run is not None
        assert (run.status, run.answer, run.termination_reason, run.turns) == ("finished", "Hello.", "completed", 1)

    async def test_who_has_lost_a_run_writes_nothing_more(self, store: RunStore) -> None:
        """A new owner has a new epoch; the old one is refused, and numbers go on without a gap."""
        log = await _begun(store)
        log.chunk(_content("a"))
        await log.flush()
        (taken,) = await store.claims.take_over(None)
        assert taken.epoch == 2
        log.chunk(_content("never"))
        assert await _refuses(log.flush(), RunLostError)
        assert await _refuses(log.finish(_DONE, _END), RunLostError)
        assert await store.log.last_chunk("run-1") == 1
        await store.log.writer(taken, seq=1, chunk_n=1).finish(_DONE, _END)
        assert await _heard(store) == [1, 2]
        assert [event.seq for event in await store.log.events("run-1")] == [1, 2, 3]

    async def test_only_running_runs_are_taken_over(self, store: RunStore) -> None:
        """A run that has ended stays as it is."""
        await (await _begun(store, "ended")).finish(_DONE, _END)
        await store.runs.begin(_new())
        assert [run.id for run in await store.claims.take_over(None)] == ["run-1"]
        ended = await store.runs.find("ended")
        assert ended is not None
        assert (ended.status, ended.epoch) == ("finished", 1)

    async def test_a_run_without_a_place_waits_for_a_claim(self, store: RunStore) -> None:
        """It belongs to nobody until then, holds its conversation, and goes to one worker only."""
        waiting = await store.runs.begin(_new(context_id="c"), places=Places(here=0))
        assert (waiting.status, waiting.attempts) == ("queued", 0)
        again = _new("again", context_id="c", begins_conversation=False)
        assert await _refuses(store.runs.begin(again), ConversationBusyError)
        assert await store.claims.take_over(None) == []
        claims = await asyncio.gather(*(store.claims.claim(8) for _ in range(4)))
        (claimed,) = [run for runs in claims for run in runs]
        assert (claimed.id, claimed.status, claimed.epoch, claimed.attempts) == ("run-1", "running", 2, 0)
        assert await store.runs.find("run-1") == claimed
        await store.log.writer(claimed).finish(_DONE, _END)
        assert await store.claims.claim(8) == []

    async def test_no_more_is_claimed_than_is_wanted_oldest_first(self, store: RunStore) -> None:
        """Each worker takes what it can go on with."""
        for number in range(5):
            await store.runs.begin(_new(f"run-{number}"), places=Places(here=0))
        assert await store.claims.claim(8, Places(here=0)) == []
        assert [run.id for run in await store.claims.claim(2)] == ["run-0", "run-1"]
        assert [run.id for run in await store.claims.claim(8, Places(in_all=4))] == ["run-2", "run-3"]

    async def test_a_user_has_no_more_running_than_the_bound_and_others_come_first(self, store: RunStore) -> None:
        """Of each user one, then of each the second."""
        for name in ("ann-1", "ann-2", "ann-3", "bob-1", "bob-2"):
            await store.runs.begin(_new(name, user_id=name[:3]), places=Places(here=0))
        assert [run.id for run in await store.claims.claim(1)] == ["ann-1"]
        assert [run.id for run in await store.claims.claim(1)] == ["bob-1"]
        assert {run.id for run in await store.claims.claim(8, Places(per_user=2))} == {"ann-2", "bob-2"}
        (begun,) = [await store.runs.begin(_new("cid", user_id="cid"), places=Places(per_user=1))]
        assert begun.status == "running"
        assert (await store.runs.begin(_new("ann-4", user_id="ann"), places=Places(per_user=3))).status == "queued"

    async def test_a_run_that_is_left_goes_on_from_its_log(self, store: RunStore) -> None:
        """What was appended before is there, what comes later is not; and nothing has failed."""
        log = await _begun(store)
        log.chunk(_content("a"))
        await log.leave(is_parked=False)
        log.chunk(_content("never"))
        (claimed,) = await store.claims.claim(8)
        assert (claimed.epoch, claimed.attempts) == (2, 0)
        again = store.log.writer(claimed, seq=1, chunk_n=await store.log.last_chunk("run-1"))
        assert again.chunk(_content("b")) == 2
        await again.finish(_DONE, _END)
        assert await _heard(store) == [1, 2, 3]
        assert await _refuses(log.finish(_DONE, _END), RunLostError)

    async def test_a_parked_run_is_nobodys_and_keeps_its_conversation(self, store: RunStore) -> None:
        """Until it is woken it is a row."""
        log = await _begun(store, context_id="c")
        await log.leave(is_parked=True, wake_at=99.0)
        parked = await store.runs.find("run-1")
        assert parked is not None
        assert (parked.status, parked.wake_at) == ("parked", 99.0)
        again = _new("again", context_id="c", begins_conversation=False)
        assert await _refuses(store.runs.begin(again), ConversationBusyError)
        assert await store.claims.claim(8) == await store.claims.take_over(None) == []

    async def test_claims_are_counted_until_a_turn_or_a_call_has_ended(self, store: RunStore) -> None:
        """A run that kills its workers can be known by that."""
        log = await _begun(store)
        log.append("tick", b"{}")
        await log.flush()
        counted = []
        for number in range(2, 5):
            (taken,) = await store.claims.take_over(None)
            counted.append(taken.attempts)
            log = store.log.writer(taken, seq=number - 1)
            log.append("tick", b"{}")
            await log.flush()
        assert counted == [1, 2, 3]
        log.append("tool_end", b"{}", step_key="tool:1")
        await log.flush()
        taken = (await store.claims.take_over(None))[0]
        assert (taken.attempts, taken.progress_seq) == (1, 5)
        assert (await store.claims.take_over(None))[0].attempts == 2
