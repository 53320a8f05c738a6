"""The stream of ticks: live, taken up again, of runs elsewhere, with slow clients, and when too many are watched."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from oracle.replay.histories import passes
from oracle.replay.histories.repetition import RepeatedRun
from oracle.server.api.history_replies import TICK_STREAM
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.server.api.conftest import HANGS, running_service
from tests.oracle.server.api.streams import Streamed, read_stream
from tests.support.waiting import until

CALL = ScriptedTurn(text="Looking. ", tool_calls=(ScriptedCall("list_files", {}),), piece_chars=2)
QUESTION = "Which files does the code have?"


@asynccontextmanager
async def watching(service, run_id: str, *, after: int | None = None, reasons: str = "") -> AsyncIterator[Streamed]:
    """Watch the ticks of a run."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    path = f"/api/runs/{run_id}/ticks/stream{reasons and f'?reasons={reasons}'}"
    async with service.client.stream("GET", path, headers=headers) as response:
        yield await read_stream(response)


async def watched(service, run_id: str, *, after: int | None = None, reasons: str = "") -> Streamed:
    """The ticks of a run to its end."""
    async with watching(service, run_id, after=after, reasons=reasons) as streamed:
        await streamed.rest()
    return streamed


def whole_events(streamed: Streamed) -> list[dict]:
    """The events with whole ticks, as a client joins them."""
    last: dict[int, dict] = {}
    found = []
    for event in streamed.chunks:
        if event["type"] == "tick":
            tick = event["tick"]
            last |= {visit["node"]: visit for visit in tick["visits"]}
            sent = len(tick["visits"])
            whole = [last[node] for node in tick["visited"]] if event["omitted_visits"] else tick["visits"]
            assert len(whole) == sent + event["omitted_visits"]
            event = event | {"tick": tick | {"visits": whole}, "omitted_visits": 0}  # noqa: PLW2901
        found.append(event)
    return found


def ticks_of(streamed: Streamed) -> list[dict]:
    return [event["tick"] for event in whole_events(streamed) if event["type"] == "tick"]


async def test_an_ended_run_sends_all_its_ticks_and_the_end(start):
    service = await start([CALL, ScriptedTurn(text="Done.")])
    asked = await service.ask(QUESTION)
    streamed = await watched(service, asked.run_id)
    history = (await service.client.get(f"/api/runs/{asked.run_id}/history")).json()
    assert ticks_of(streamed) == history["ticks"]
    assert streamed.ids == list(range(1, len(history["ticks"]) + 2))
    for name in ("turns", "calls", "notices", "texts"):
        assert [item for event in streamed.chunks for item in event[name]] == history[name]
    assert streamed.chunks[-1]["end"] == history["end"]
    assert [TICK_STREAM.dump_python(TICK_STREAM.validate_python(each), mode="json") for each in streamed.chunks] == (
        streamed.chunks
    )


async def test_a_stream_is_taken_up_after_every_tick(start):
    service = await start([CALL, ScriptedTurn(text="Done.")])
    asked = await service.ask(QUESTION)
    whole = await watched(service, asked.run_id)
    last = whole.ids[-1]
    for after in range(last):
        rest = await watched(service, asked.run_id, after=after)
        assert whole_events(rest) == whole_events(whole)[after:]
        assert rest.ids == whole.ids[after:]
        assert rest.chunks[0].get("omitted_visits", 0) == 0
    for after in (last, last + 1, 2**31, 10**30):
        assert (await watched(service, asked.run_id, after=after)).status == 204


async def test_a_stream_leaves_out_the_visits_that_it_has_sent(start):
    service = await start([CALL, CALL, ScriptedTurn(text="Done.")])
    asked = await service.ask(QUESTION)
    events = [event for event in (await watched(service, asked.run_id)).chunks if event["type"] == "tick"]
    assert any(event["omitted_visits"] for event in events)
    last: dict[int, dict] = {}
    for event in events:
        for visit in event["tick"]["visits"]:
            assert last.get(visit["node"]) != visit
            last[visit["node"]] = visit


async def test_a_plain_stream_repeats_nothing(start, monkeypatch):
    service = await start([CALL, ScriptedTurn(text="Done.")])
    asked = await service.ask(QUESTION)
    explained = ticks_of(await watched(service, asked.run_id))
    with monkeypatch.context() as patched:
        patched.setattr(RepeatedRun, "play", None)
        streamed = await watched(service, asked.run_id, reasons="false")
        rest = await watched(service, asked.run_id, reasons="false", after=2)
    assert rest.events == streamed.events[2:]
    assert streamed.chunks[-1]["end"]["reason"] == "completed"
    assert streamed.chunks[-1]["problem"] == ""
    for plain, whole in zip(ticks_of(streamed), explained, strict=True):
        same = ("tick", "at_s", "turn", "cause", "causes", "deliveries", "visited", "changes", "writes", "errors")
        assert {name: plain[name] for name in same} == {name: whole[name] for name in same}
        assert (plain["decision"], plain["visits"]) == (None, [])
    assert [item for event in streamed.chunks for item in event["calls"]]


async def test_a_live_run_sends_each_tick_to_all_who_watch(start):
    service = await start([CALL, HANGS])
    async with service.asking(QUESTION) as asked, watching(service, asked.run_id) as first:
        await asked.until("here")
        while len(first.events) < 3:
            assert await first._more()
        async with watching(service, asked.run_id) as second, watching(service, asked.run_id, after=2) as third:
            await service.client.post(f"/api/oracle/runs/{asked.run_id}/cancel")
            await asyncio.gather(first.rest(), second.rest(), third.rest())
            assert len(service.parts.passes()._passes) == 1
    assert first.events == second.events
    assert whole_events(first) == whole_events(second)[:2] + whole_events(third)
    assert first.chunks[-1]["end"]["reason"] == "user_cancelled"


async def test_a_wrong_last_id_is_a_422(service):
    asked = await service.ask()
    for wrong in ("-1", "x", "1.5"):
        path = f"/api/runs/{asked.run_id}/ticks/stream"
        assert (await service.client.get(path, params={"after": wrong})).status_code == 422


async def test_a_run_of_another_worker_is_watched_as_well(tmp_path, postgresql_url):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    async with (
        running_service(one, [CALL, HANGS], url=postgresql_url) as here,
        running_service(other, url=postgresql_url, worker="worker-2") as there,
        here.asking(QUESTION) as asked,
    ):
        await asked.until("here")
        async with watching(there, asked.run_id) as streamed:
            while len(streamed.events) < 3:
                assert await streamed._more()
            await here.client.post(f"/api/oracle/runs/{asked.run_id}/cancel")
            async with asyncio.timeout(20):
                await streamed.rest()
        whole = await watched(here, asked.run_id)
    assert streamed.events == whole.events


async def test_a_reader_that_has_fallen_behind_gets_all_ticks_from_another_pass(start, monkeypatch):
    monkeypatch.setattr(passes, "BATCH_BYTES", 1)
    monkeypatch.setattr(passes, "_SLICE_S", 0.0)
    service = await start([CALL, ScriptedTurn(text="Done.")], explaining={"kept_bytes": 1})
    asked = await service.ask(QUESTION)
    whole, again = await asyncio.gather(watched(service, asked.run_id), watched(service, asked.run_id, after=1))
    assert whole.ids == [1, *again.ids]
    assert whole.ids == list(range(1, len(whole.ids) + 1))
    late = await watched(service, asked.run_id)
    assert late.events == whole.events
    page = (await service.client.get(f"/api/runs/{asked.run_id}/history")).json()
    assert page["ticks"] == ticks_of(whole)


async def test_too_many_watched_runs_are_refused_until_one_is_left(start):
    service = await start([HANGS], explaining={"most": 1})
    async with service.asking() as first, service.asking() as second:
        async with watching(service, first.run_id) as streamed:
            assert await streamed._more()
            for call in ("ticks/stream", "history", "turns", "tree"):
                refused = await service.client.get(f"/api/runs/{second.run_id}/{call}")
                assert refused.status_code == 503
                assert refused.headers["retry-after"] == "5"
                assert "Try again" in refused.json()["detail"]
            assert (await service.client.get(f"/api/runs/{first.run_id}/history")).status_code == 200
            assert (await service.client.get(f"/api/runs/{second.run_id}/ticks")).status_code == 200
        await until(lambda: not service.parts.passes()._passes[0].readers)
        assert (await service.client.get(f"/api/runs/{second.run_id}/history")).status_code == 200


async def test_a_stream_ends_with_the_process_and_is_taken_up_again(start):
    service = await start([HANGS])
    async with service.asking() as asked, watching(service, asked.run_id) as streamed:
        assert await streamed._more()
        service.parts.streams.close()
        await streamed.rest()
    assert all(event["type"] == "tick" for event in streamed.chunks)


@pytest.mark.parametrize("how", ["forgotten", "abandoned"])
async def test_a_stream_of_a_run_that_goes_while_it_is_watched_ends(start, how):
    service = await start([HANGS])
    async with service.asking() as asked, watching(service, asked.run_id) as streamed:
        assert await streamed._more()
        if how == "forgotten":
            context = (await service.client.get(f"/api/oracle/runs/{asked.run_id}")).json()["context_id"]
            await service.client.delete(f"/api/oracle/conversations/{context}")
        else:
            await service.parts.store.runs.abandon(asked.run_id)
        async with asyncio.timeout(20):
            await streamed.rest()
    assert streamed.chunks[-1]["type"] == "end"
