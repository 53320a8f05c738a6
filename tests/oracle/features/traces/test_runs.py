"""Traces of runs over HTTP, and of runs whose process died; on SQLite and PostgreSQL."""

import pytest
import structlog

from oracle.features.traces.exporting import exporting
from oracle.runs.storage.store import open_store
from oracle.testing import ScriptedTurn
from tests.oracle.runs.running import managed, settle
from tests.oracle.server.api.conftest import ALICE, BOB, TOKENS, running_service

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
TRACED = {"traceparent": PARENT, "tracestate": "congo=1"}


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
async def test_both_query_calls_take_in_a_trace_and_the_run_shows_its_id(collector, tmp_path, request, database):
    where = None if database == "sqlite" else request.getfixturevalue("postgresql_url")
    async with exporting(system="anthropic") as out, running_service(tmp_path, traces=out.traces, url=where) as service:
        streamed = await service.ask(headers=TRACED)
        whole = await service.client.post("/api/oracle", json={"question": "hello"}, headers=TRACED)
        for run_id in (streamed.run_id, whole.json()["run_id"]):
            run = (await service.client.get(f"/api/oracle/runs/{run_id}")).json()
            assert run["trace_id"] == TRACE
    runs = collector.of("invoke_agent")
    assert [(run.trace_id, run.parent_id, run.state) for run in runs] == [(TRACE, SPAN, "congo=1")] * 2
    assert {run.attributes["oracle.run.id"] for run in runs} == {streamed.run_id, whole.json()["run_id"]}
    assert runs[0].attributes["gen_ai.conversation.id"] == streamed.done["context_id"]


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("traceparent", "")],
        [("traceparent", f"00-{TRACE}-{SPAN}-01-more")],
        [("traceparent", f"00-{'0' * 32}-{SPAN}-01")],
        [("traceparent", PARENT), ("traceparent", PARENT)],
        [("traceparent", "0" * 5_000)],
        [("traceparent", b"\xff\xfe")],
        [("tracestate", "congo=1")],
    ],
    ids=str,
)
async def test_a_request_without_a_valid_trace_is_answered_and_begins_one(collector, tmp_path, headers):
    async with exporting(system="anthropic") as out, running_service(tmp_path, traces=out.traces) as service:
        response = await service.client.post("/api/oracle", json={"question": "hello"}, headers=headers)
        assert response.status_code == 200
    (run,) = collector.of("invoke_agent")
    assert (run.parent_id, run.state) == ("", "")
    assert run.trace_id != TRACE


async def test_where_traces_are_off_nothing_is_kept_of_one(collector, tmp_path):
    async with running_service(tmp_path) as service:
        streamed = await service.ask(headers=TRACED)
        assert (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()["trace_id"] is None
        record = await service.parts.store.runs.find(streamed.run_id)
    assert "trace" not in record.input
    assert collector.requests == 0


async def test_the_id_of_a_trace_is_the_owners(collector, tmp_path):
    async with (
        exporting(system="anthropic") as out,
        running_service(tmp_path, traces=out.traces, tokens=TOKENS) as service,
    ):
        streamed = await service.ask(headers=TRACED | ALICE)
        path = f"/api/oracle/runs/{streamed.run_id}"
        assert (await service.client.get(path, headers=ALICE)).json()["trace_id"] == TRACE
        assert (await service.client.get(path, headers=BOB)).status_code == 404


async def test_log_lines_of_a_run_name_its_trace(collector, tmp_path):
    lines = []
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, lambda *a: lines.append(dict(a[2])) or a[2]],
        logger_factory=structlog.ReturnLoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(0),
    )
    async with exporting(system="anthropic") as out, running_service(tmp_path, traces=out.traces) as service:
        await service.ask(headers=TRACED)
    (line,) = [line for line in lines if line["event"] == "run.finished"]
    assert line["trace_id"] == TRACE


async def test_a_request_that_is_refused_has_no_span(collector, tmp_path):
    async with exporting(system="anthropic") as out, running_service(tmp_path, traces=out.traces) as service:
        response = await service.client.post("/api/oracle", json={"question": "hello", "tree": "x"}, headers=TRACED)
        assert response.status_code == 422
    assert collector.spans == []


async def test_a_run_that_goes_on_in_another_process_has_one_trace(collector, url):
    asked = {"traceparent": [PARENT], "tracestate": ["congo=1"]}
    first = ScriptedTurn(text="Half of the", hang=True)
    async with (
        exporting(system="anthropic") as out,
        open_store(url, worker="killed") as store,
        managed(store, [first], traces=out.traces) as it,
    ):
        live = await it.start(trace=asked)
        await it.until_text(live.record, "Half of the")
        record = live.record
    async with (
        exporting(system="anthropic") as out,
        open_store(url, worker="next") as store,
        managed(store, [ScriptedTurn(text=" answer.")], traces=out.traces) as it,
    ):
        ended = await it.told(record)
        await settle()
    (run,) = collector.of("invoke_agent")
    assert [turn.parent_id for turn in collector.of("chat")] == [run.span_id] * 2
    assert (run.trace_id, run.parent_id, run.state) == (TRACE, SPAN, "congo=1")
    assert run.attributes["oracle.termination_reason"] == ended.record.termination_reason == "completed"
    assert run.attributes["oracle.recovered"] is True
    assert run.start_ns == pytest.approx(record.created_at * 1e9, abs=1e6)


async def test_a_run_whose_process_died_ends_its_trace_when_it_is_recovered(collector, url):
    asked = {"traceparent": [PARENT], "tracestate": ["congo=1"]}
    first = ScriptedTurn(text="Half of the", hang=True)
    async with (
        exporting(system="anthropic") as out,
        open_store(url, worker="killed") as store,
        managed(store, [first], goes_on=False, traces=out.traces) as it,
    ):
        live = await it.start(trace=asked)
        await it.until_text(live.record, "Half of the")
        record = live.record
    assert collector.of("invoke_agent") == [], "the process that died has exported its turns at most"
    (turn,) = collector.of("chat")
    async with (
        exporting(system="anthropic") as out,
        open_store(url, worker="next") as store,
        managed(store, [], traces=out.traces) as it,
    ):
        ended = await it.told(record)
        await settle()
    (run,) = collector.of("invoke_agent")
    assert turn.parent_id == run.span_id
    assert (run.trace_id, run.parent_id, run.state) == (TRACE, SPAN, "congo=1")
    assert record.trace_id == TRACE
    assert (run.status, run.attributes["error.type"]) == ("error", "interrupted")
    assert run.attributes["oracle.recovered"] is True
    assert run.events == ("oracle.recovered",)
    assert run.attributes["oracle.termination_reason"] == ended.record.termination_reason == "error"
    assert run.start_ns == pytest.approx(record.created_at * 1e9, abs=1e6)


async def test_a_recovered_run_that_was_not_sampled_is_not_exported(collector, url, monkeypatch):
    first = ScriptedTurn(text="Half of the", hang=True)
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    async with (
        exporting(system="anthropic") as out,
        open_store(url, worker="killed") as store,
        managed(store, [first], traces=out.traces) as it,
    ):
        live = await it.start()
        await it.until_text(live.record, "Half of the")
    monkeypatch.delenv("OTEL_TRACES_SAMPLER")
    async with (
        exporting(system="anthropic") as out,
        open_store(url, worker="next") as store,
        managed(store, [], traces=out.traces) as it,
    ):
        await it.told(live.record)
        await settle()
    assert collector.spans == []
    assert live.record.trace_id is not None
