import asyncio

import pytest
from sqlalchemy import update

from oracle.llm.protocol import ModelFault
from oracle.runs.record.figures import LogFigures
from oracle.runs.storage import schema
from oracle.runs.storage.errors import RunLostError
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.runs.storage.making import content, new_run
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, OLGA, OPERATOR, TOKENS, in_shared_loop

CALL = ScriptedTurn(text="Looking. ", tool_calls=(ScriptedCall("list_files", {}),), piece_chars=2)
SIGNALLED = ScriptedTurn(
    text='Found it. <signal type="context_sufficient"><sources_found>1</sources_found></signal>', piece_chars=5
)
QUESTION = "Which files does the code have?"


async def test_a_finished_run_has_its_result_and_figures(start):
    service = await start([CALL, SIGNALLED])
    streamed = await service.ask(QUESTION)
    told = (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()
    done = streamed.done
    assert told["run_id"] == streamed.run_id
    assert told["context_id"] == done["context_id"]
    assert told["status"] == "finished"
    assert told["termination_reason"] == "completed"
    assert {name: told[name] for name in ("turns", "tokens_used", "tokens_estimated", "model_used")} == {
        name: done[name] for name in ("turns", "tokens_used", "tokens_estimated", "model_used")
    }
    assert told["tree"]["name"] == "oracle"
    assert len(told["tree"]["version"]) == 64
    assert told["created_at"] <= told["finished_at"] < told["deadline_at"]
    assert told["created_at"].endswith("Z")
    assert told["limits"]["max_iterations"] == 15
    assert told["error"] is None
    assert (told["forgotten"], told["kept"]) == (False, "whole")


async def test_a_running_run_has_its_progress(start):
    service = await start([CALL, HANGS])
    async with service.asking(QUESTION) as streamed:
        await streamed.until("here")
        told = (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()
    assert told["status"] == "running"
    assert told["finished_at"] is None
    assert told["termination_reason"] is None
    assert told["turns"] == 1
    assert 0 < told["tokens_used"] <= streamed.done["tokens_used"]
    assert told["tokens_estimated"] is True
    assert told["model_used"] == "scripted"


async def test_a_stream_is_taken_up_after_every_id_with_the_same_bytes(start):
    service = await start([CALL, SIGNALLED])
    streamed = await service.ask(QUESTION)
    events = [event + b"\n\n" for event in streamed.raw.split(b"\n\n")[:-1]]
    last = len(events)
    assert (await service.resume(streamed.run_id)).raw == streamed.raw
    for after in range(last):
        resumed = await service.resume(streamed.run_id, after=after)
        assert resumed.raw == b"".join(events[after:])
        assert resumed.run_id == streamed.run_id
    for after in (last, last + 1, 2**31, 10**30):
        resumed = await service.resume(streamed.run_id, after=after)
        assert (resumed.status, resumed.raw) == (204, b"")


async def test_the_header_goes_before_the_parameter(start):
    service = await start()
    streamed = await service.ask()
    path = f"/api/oracle/runs/{streamed.run_id}/stream"
    by_parameter = await service.client.get(path, params={"after": 1})
    by_both = await service.client.get(path, params={"after": 0}, headers={"Last-Event-ID": "1"})
    assert by_parameter.content == by_both.content
    assert by_parameter.content.startswith(b"id: 2\n")


async def test_a_last_id_that_is_no_number_is_a_422(service):
    streamed = await service.ask()
    path = f"/api/oracle/runs/{streamed.run_id}/stream"
    for wrong in ("-1", "1.5", "one", "1 2", "\u00b2", "0x1", "1e3", "x"):
        by_parameter = await service.client.get(path, params={"after": wrong})
        by_header = await service.client.get(path, headers={"Last-Event-ID": wrong.encode()})
        assert by_parameter.status_code == by_header.status_code == 422, wrong
        assert by_parameter.json()["detail"][0]["loc"] == ["query", "after"]
        assert by_header.json()["detail"][0]["loc"] == ["header", "Last-Event-ID"]


async def test_an_empty_header_is_ignored(service):
    streamed = await service.ask()
    path = f"/api/oracle/runs/{streamed.run_id}/stream"
    whole = await service.client.get(path, headers={"Last-Event-ID": ""})
    rest = await service.client.get(path, params={"after": 1}, headers={"Last-Event-ID": ""})
    assert (whole.status_code, rest.status_code) == (200, 200)
    assert whole.content.startswith(b"id: 1\n")
    assert rest.content.startswith(b"id: 2\n")


async def test_several_readers_of_a_live_run_get_the_same_chunks(start):
    service = await start([ScriptedTurn(text=("One. ", "Two. "), hang=True)])
    async with service.asking() as first:
        await first.until("One.")
        async with service.resuming(first.run_id, after=1) as second, service.resuming(first.run_id) as third:
            await asyncio.gather(second.until("Two."), third.until("Two."))
            await service.client.post(f"/api/oracle/runs/{first.run_id}/cancel")
            await asyncio.gather(first.rest(), second.rest(), third.rest())
    assert first.events == third.events == first.events[:1] + second.events
    assert first.done["termination_reason"] == "user_cancelled"


async def test_a_cancel_is_taken_whether_the_run_goes_on_or_has_ended(start):
    service = await start([HANGS])
    async with service.asking() as streamed:
        await streamed.until("here")
        path = f"/api/oracle/runs/{streamed.run_id}/cancel"
        first = await service.client.post(path)
        await streamed.rest()
    again = await service.client.post(path)
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json() == {"run_id": streamed.run_id, "status": "finished"}
    assert streamed.done["termination_reason"] == "user_cancelled"
    assert (await service.resume(streamed.run_id)).raw == streamed.raw


@pytest.mark.parametrize("call", ["", "/stream", "/cancel"])
@pytest.mark.parametrize("run_id", ["never-was", "a" * 65, "%00", "%2e%2e", "a%0ab", "%ff"])
@in_shared_loop
async def test_a_run_that_is_not_there_is_a_404(shared, run_id, call):
    method = "POST" if call == "/cancel" else "GET"
    response = await shared.client.request(method, f"/api/oracle/runs/{run_id}{call}")
    assert (response.status_code, response.json()) == (404, {"detail": "There is no such run."})


async def test_runs_are_listed_newest_first_and_page_by_page(service):
    asked = [(await service.ask(f"hello {number}")).run_id for number in range(5)]
    newest = asked[::-1]
    listed = (await service.client.get("/api/runs")).json()
    assert [run["run_id"] for run in listed["runs"]] == newest
    assert listed["next"] is None
    first = (await service.client.get("/api/runs", params={"limit": 2})).json()
    assert [run["run_id"] for run in first["runs"]] == newest[:2]
    second = (await service.client.get("/api/runs", params={"limit": 2, "before": first["next"]})).json()
    assert [run["run_id"] for run in second["runs"]] == newest[2:4]
    third = (await service.client.get("/api/runs", params={"limit": 2, "before": second["next"]})).json()
    assert [run["run_id"] for run in third["runs"]] == newest[4:]
    assert third["next"] is None
    status = (await service.client.get(f"/api/oracle/runs/{asked[0]}")).json()
    assert listed["runs"][-1] == status


@pytest.mark.parametrize(
    ("query", "status"),
    [
        *((f"limit={wrong}", 422) for wrong in ("0", "-1", "201", "9" * 50, "1.5", "x")),
        *((f"before={wrong}", 404) for wrong in ("never-was", "%00")),
    ],
)
@in_shared_loop
async def test_a_wrong_page_is_refused(shared, query, status):
    assert (await shared.client.get(f"/api/runs?{query}")).status_code == status


async def test_ticks_tell_what_the_tree_did_page_by_page(start):
    service = await start([CALL, SIGNALLED])
    streamed = await service.ask(QUESTION)
    path = f"/api/runs/{streamed.run_id}/ticks"
    told = (await service.client.get(path)).json()
    assert told["run_id"] == streamed.run_id
    assert told["tree"] == "oracle"
    assert len(told["version"]) == 64
    run = (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()
    assert (run["tree"]["name"], run["tree"]["version"]) == ("oracle", told["version"])
    assert [tick["tick"] for tick in told["ticks"]] == list(range(1, len(told["ticks"]) + 1))
    assert told["ticks"][0]["cause"] == "start"
    nodes, visited = told["nodes"], told["ticks"][0]["visited"]
    assert any("llm_turn" in nodes[index] for index in visited)
    paged, after = [], 0
    while after is not None:
        page = (await service.client.get(path, params={"after": after, "limit": 1})).json()
        paged += page["ticks"]
        after = page["next"]
    assert paged == told["ticks"]


async def test_signals_tell_what_the_model_said_and_what_was_done_about_it(start):
    service = await start([SIGNALLED])
    streamed = await service.ask()
    told = (await service.client.get(f"/api/runs/{streamed.run_id}/signals")).json()
    (signal,) = told["signals"]
    assert signal["type"] == "context_sufficient"
    assert told["next"] is None
    assert "<signal" not in streamed.text


async def test_a_turn_without_a_signal_is_recorded_as_such(service):
    streamed = await service.ask()
    told = (await service.client.get(f"/api/runs/{streamed.run_id}/signals")).json()
    assert [(signal["turn"], signal["outcome"], signal["type"]) for signal in told["signals"]] == [(1, "absent", None)]


async def test_of_a_forgotten_run_figures_stay_and_texts_are_gone(service):
    streamed = await service.ask()
    assert (await service.client.delete(f"/api/oracle/conversations/{streamed.done['context_id']}")).status_code == 204
    told = (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()
    assert (told["forgotten"], told["kept"]) == (True, "gone")
    assert told["tokens_used"] == streamed.done["tokens_used"]
    for path in (f"/api/oracle/runs/{streamed.run_id}/stream", *_records(streamed.run_id)):
        assert (await service.client.get(path)).status_code == 410


async def test_of_a_run_whose_texts_were_dropped_the_figures_of_its_ticks_stay(start):
    service = await start([CALL, SIGNALLED])
    streamed = await service.ask(QUESTION)
    before = (await service.client.get(_records(streamed.run_id)[0])).json()
    assert await service.parts.store.retention.drop_texts(older_than_s=-60.0, new_reducer=LogFigures) == 1
    run = (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()
    assert (run["forgotten"], run["kept"], run["turns"]) == (True, "figures", 2)
    assert (await service.client.get(f"/api/oracle/runs/{streamed.run_id}/stream")).status_code == 410
    after = (await service.client.get(_records(streamed.run_id)[0])).json()
    assert [tick["changes"] for tick in after["ticks"]] == [tick["changes"] for tick in before["ticks"]]
    assert all(tick["took_ms"] > 0 for tick in after["ticks"] if tick["cause"] != "end")
    signals = (await service.client.get(_records(streamed.run_id)[1])).json()["signals"]
    assert [(signal["type"], signal["raw_xml"]) for signal in signals][-1] == ("context_sufficient", None)


async def test_an_operator_sees_how_others_runs_are_and_not_what_they_say(guarded):
    streamed = await guarded.ask(headers=ALICE)
    path = f"/api/oracle/runs/{streamed.run_id}"
    for seen in (path, *_records(streamed.run_id)):
        assert (await guarded.client.get(seen, headers=OLGA)).status_code == 200
        assert (await guarded.client.get(seen, headers=BOB)).status_code == 404
    listed = (await guarded.client.get("/api/runs", headers=OLGA)).json()["runs"]
    assert [(run["run_id"], run["user_id"]) for run in listed] == [(streamed.run_id, "alice")]
    assert (await guarded.client.get(f"{path}/stream", headers=OLGA)).status_code == 404
    assert (await guarded.client.post(f"{path}/cancel", headers=OLGA)).status_code == 404
    kept = f"/api/oracle/conversations/{streamed.done['context_id']}"
    assert (await guarded.client.get(kept, headers=OLGA)).status_code == 404
    assert (await guarded.client.delete(kept, headers=OLGA)).status_code == 404
    for call in ("/api/oracle", "/api/oracle/stream"):
        asked = {"question": "What was said?", "context_id": streamed.done["context_id"]}
        assert (await guarded.client.post(call, json=asked, headers=OLGA)).status_code == 404
    assert (await guarded.client.get(kept, headers=ALICE)).status_code == 200


def _records(run_id):
    return f"/api/runs/{run_id}/ticks", f"/api/runs/{run_id}/signals"


async def test_a_stream_of_a_run_that_is_abandoned_ends_with_an_error_and_done(service):
    """Another worker has begun it for an earlier request with the same key, and could not open it."""
    store = service.parts.store
    await store.runs.begin(new_run("orphan", user_id="local"))
    async with service.resuming("orphan") as streamed:
        assert streamed.status == 200
        await store.runs.abandon("orphan")
        await streamed.rest()
    assert streamed.types == ["error", "done"]
    assert streamed.ids == [1, 2]
    assert (streamed.done["termination_reason"], streamed.done["context_id"]) == ("error", "context-of-orphan")


async def test_users_read_what_happened_and_operators_why(start):
    fault = ModelFault(
        "provider_auth", "The model is not set up.", "Check ANTHROPIC_API_KEY.", {"status": 401, "request_id": "req_7"}
    )
    service = await start([ScriptedTurn(fault=fault)], tokens=TOKENS | OPERATOR, operators=("olga",))
    streamed = await service.ask(headers=ALICE)
    path = f"/api/oracle/runs/{streamed.run_id}"
    users, operators = [(await service.client.get(path, headers=who)).json() for who in (ALICE, OLGA)]
    error = f"The model is not set up. Reference: {streamed.run_id}."
    assert users["error"] == operators["error"] == error
    assert (users["cause"], users["cause_detail"]) == (None, None)
    assert operators["cause"] == "Check ANTHROPIC_API_KEY."
    assert operators["cause_detail"] == {"status": 401, "request_id": "req_7"}
    assert "ANTHROPIC" not in str(streamed.chunks)
    for tail in ("history", "ticks/stream"):
        path = f"/api/runs/{streamed.run_id}/{tail}"
        users, operators = [(await service.client.get(path, headers=who)).text for who in (ALICE, OLGA)]
        assert '"cause":"Check ANTHROPIC_API_KEY."' in operators
        assert "ANTHROPIC" not in users
        assert operators.replace("Check ANTHROPIC_API_KEY.", "") == users


async def test_a_stream_of_a_run_that_is_forgotten_while_it_is_read_ends_with_done(service):
    """Another worker has ended it and deleted its conversation before this reader had read on."""
    store = service.parts.store
    record = await store.runs.begin(new_run("read", user_id="local"))
    log = store.log.writer(record)
    log.chunk(content("Some text."))
    await log.flush()
    async with service.resuming("read") as streamed:
        await streamed.until("Some text.")
        log.refused(RunLostError("another worker has it"))
        ended = {"status": "finished", "termination_reason": "user_cancelled", "epoch": 2, "turns": 1}
        forgotten = update(schema.run).values(**ended, forgotten_at=1.0)
        await store.write(lambda connection: connection.execute(forgotten).close())
        for tail in store.log._tails:
            tail.wake()
        await streamed.rest()
    assert streamed.types == ["content", "done"]
    assert streamed.ids == [1, 2]
    assert (streamed.done["termination_reason"], streamed.done["turns"]) == ("user_cancelled", 1)
