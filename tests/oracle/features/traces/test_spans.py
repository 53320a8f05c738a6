"""The spans of queries, as a collector gets them."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.trace import NonRecordingSpan

from oracle.agent.answering import Ask
from oracle.agent.tracing import NOT_TRACED
from oracle.core.traces import trace_headers
from oracle.features.traces import names
from oracle.features.traces.exporting import exporting
from oracle.llm.protocol import ModelFault, Usage
from oracle.testing import ScriptedCall, ScriptedTurn
from oracle.tools import Tool, ToolError, ToolResult
from tests.acceptance.harness import CODE_QUESTION, harness, says
from tests.oracle.features.traces.collector import Collector, texts

TRACE, SPAN, STATE = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "congo=t61rcWkgMzE,rojo=00"
PARENT = {"traceparent": [f"00-{TRACE}-{SPAN}-01"], "tracestate": [STATE]}
SECRET = "the launch code is 4711"
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}
USAGE = Usage(input_tokens=100, cache_creation_tokens=20, cache_read_tokens=300, output_tokens=40)


def probe(call: Any, name: str = "probe") -> Tool:
    return Tool(name, "Looks.", "To look.", SCHEMA, call, "code")


async def found(_):
    return ToolResult("found")


def asks(*calls: ScriptedCall, text: str = "", **more: Any) -> ScriptedTurn:
    return ScriptedTurn(text=text, tool_calls=calls, usage=USAGE, **more)


def by_name(collector: Collector) -> Mapping[str, Any]:
    return {span.name: span for span in collector.spans}


async def test_a_query_is_a_tree_of_run_turns_and_tools(collector):
    seen: dict[str, dict[str, str]] = {}

    async def look(arguments):
        seen[arguments["query"]] = trace_headers()
        return ToolResult("found")

    turns = [
        asks(ScriptedCall("probe", {"query": "a"}), ScriptedCall("probe", {"query": "b"})),
        ScriptedTurn(text="It is there.", usage=USAGE),
    ]
    async with (
        exporting(system="anthropic") as out,
        harness(turns, wire=False, tools=[probe(look)], traces=out.traces) as it,
    ):
        answered = await it.ask(trace=PARENT)
        assert trace_headers() == {}
    assert collector.refusals == []
    (run,) = collector.of("invoke_agent")
    first, second = collector.of("chat")
    assert (run.name, run.kind, run.status) == ("invoke_agent oracle", "INTERNAL", "unset")
    assert (first.name, first.kind) == ("chat scripted", "CLIENT")
    assert [first, second] == collector.children(run)
    calls = collector.children(first)
    assert [call.name for call in calls] == ["execute_tool probe"] * 2
    assert collector.children(second) == []
    assert {span.trace_id for span in collector.spans} == {TRACE}
    assert run.parent_id == SPAN
    assert {span.state for span in collector.spans} == {STATE}
    assert sorted(headers["traceparent"] for headers in seen.values()) == sorted(
        f"00-{call.trace_id}-{call.span_id}-01" for call in calls
    )
    assert {headers["tracestate"] for headers in seen.values()} == {STATE}
    done = answered.done
    assert run.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.agent.name": "oracle",
        "gen_ai.agent.version": it.oracle.check(Ask(CODE_QUESTION)).tree.sha,
        "gen_ai.conversation.id": done.context_id,
        "gen_ai.request.model": "scripted",
        "gen_ai.response.model": "scripted",
        "gen_ai.usage.input_tokens": 840,
        "gen_ai.usage.output_tokens": 80,
        "oracle.run.id": done.run_id,
        "oracle.termination_reason": "completed",
        "oracle.turns": 2,
        "oracle.budget_tokens": done.tokens_used,
    }
    assert first.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.conversation.id": done.context_id,
        "gen_ai.request.model": "scripted",
        "gen_ai.request.max_tokens": first.attributes["gen_ai.request.max_tokens"],
        "gen_ai.request.stream": True,
        "gen_ai.response.model": "scripted",
        "gen_ai.response.finish_reasons": ["tool_use"],
        "gen_ai.usage.input_tokens": 420,
        "gen_ai.usage.output_tokens": 40,
        "gen_ai.usage.cache_read.input_tokens": 300,
        "gen_ai.usage.cache_creation.input_tokens": 20,
        "oracle.budget_tokens": 160,
        "oracle.run.id": done.run_id,
        "oracle.turn": 1,
        "oracle.turn.is_side": False,
        "oracle.node.path": first.attributes["oracle.node.path"],
    }
    assert first.attributes["oracle.node.path"].endswith("llm_turn")
    assert calls[0].attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.conversation.id": done.context_id,
        "gen_ai.tool.name": "probe",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_1_1",
        "oracle.run.id": done.run_id,
        "oracle.node.path": calls[0].attributes["oracle.node.path"],
    }
    assert re.search(r"/after_turn/subtree/.*/run_tools$", calls[0].attributes["oracle.node.path"])
    assert run.resource["service.name"] == "oracle"
    assert run.scope == "oracle"
    for span in (*collector.of("chat"), *calls):
        assert run.start_ns <= span.start_ns <= span.end_ns <= run.end_ns


async def test_every_name_is_in_the_table_and_in_the_conventions(collector):
    known = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_")}
    ours = {value for name, value in vars(names).items() if name.isupper() and isinstance(value, str) and "." in value}
    assert {name for name in ours if not name.startswith("oracle.")} - known == {"error.type"}
    turns = [asks(ScriptedCall("probe", {"query": SECRET})), ScriptedTurn(text="Well.", usage=USAGE)]
    async with (
        exporting(system="anthropic", with_content=True) as out,
        harness(turns, wire=False, tools=[probe(found)], traces=out.traces) as it,
    ):
        await it.ask()
    assert {name for span in collector.spans for name in span.attributes} <= ours


@pytest.mark.parametrize("with_content", [False, True])
async def test_content_is_recorded_only_if_asked_for(collector, with_content):
    turns = [
        asks(ScriptedCall("probe", {"query": f"arguments: {SECRET}"}), text=f"thoughts: {SECRET}"),
        ScriptedTurn(text=f"answer: {SECRET}", usage=USAGE),
    ]

    async def look(_):
        raise ToolError(f"result: {SECRET}")

    async with (
        exporting(system="anthropic", with_content=with_content) as out,
        harness(turns, wire=False, tools=[probe(look)], traces=out.traces) as it,
    ):
        await it.ask(f"{CODE_QUESTION} question: {SECRET}")
    if not with_content:
        assert not [text for text in texts(collector.spans) if SECRET in text]
        return
    (run,), (first, second), (call,) = map(collector.of, ("invoke_agent", "chat", "execute_tool"))
    assert json.loads(run.attributes["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": f"{CODE_QUESTION} question: {SECRET}"}]}
    ]
    (said,) = json.loads(run.attributes["gen_ai.output.messages"])
    assert said["parts"] == [{"type": "text", "content": f"thoughts: {SECRET}\n\nanswer: {SECRET}"}]
    (said,) = json.loads(first.attributes["gen_ai.output.messages"])
    assert said["parts"][1] == {
        "type": "tool_call",
        "id": "call_1_1",
        "name": "probe",
        "arguments": {"query": f"arguments: {SECRET}"},
    }
    assert said["finish_reason"] == "tool_use"
    assert f"answer: {SECRET}" in second.attributes["gen_ai.output.messages"]
    assert json.loads(call.attributes["gen_ai.tool.call.arguments"]) == {"query": f"arguments: {SECRET}"}
    assert call.attributes["gen_ai.tool.call.result"] == f"result: {SECRET}"


async def test_a_tool_that_fails_and_one_that_is_not_offered(collector):
    async def broken(_):
        raise ZeroDivisionError(SECRET)

    turns = [
        asks(ScriptedCall("probe", {}), ScriptedCall("no_such_tool", {})),
        ScriptedTurn(text="It is broken.", usage=USAGE),
    ]
    async with (
        exporting(system="anthropic") as out,
        harness(turns, wire=False, tools=[probe(broken)], traces=out.traces) as it,
    ):
        await it.ask()
    (call,) = collector.of("execute_tool")
    assert (call.status, call.attributes["error.type"], call.description) == ("error", "tool_error", "")
    (run,) = collector.of("invoke_agent")
    assert run.status == "unset"


async def test_a_failure_of_the_provider(collector):
    fault = ModelFault("provider_overloaded", "The model is busy.", "overloaded_error 529", {"status": 529})
    async with (
        exporting(system="anthropic") as out,
        harness([ScriptedTurn(text="It", fault=fault)], wire=False, traces=out.traces) as it,
    ):
        await it.ask()
    for span in (*collector.of("chat"), *collector.of("invoke_agent")):
        assert (span.status, span.attributes["error.type"]) == ("error", "provider_overloaded")
        assert span.description == "overloaded_error 529"
    assert collector.of("invoke_agent")[0].attributes["oracle.termination_reason"] == "error"


async def test_a_cancel_ends_turn_and_run(collector):
    turns = [ScriptedTurn(text="It begins", hang=True)]
    async with exporting(system="anthropic") as out, harness(turns, wire=False, traces=out.traces) as it:
        underway = await it.start()
        await underway.until_content("It begins")
        underway.cancel()
        await underway.result()
    (run,), (turn,) = collector.of("invoke_agent"), collector.of("chat")
    assert run.attributes["oracle.termination_reason"] == "user_cancelled"
    assert (run.status, turn.status) == ("unset", "unset")
    assert turn.attributes["oracle.cancelled"] is True
    assert "error.type" not in turn.attributes


async def test_a_cancel_ends_a_tool(collector):
    begun = asyncio.Event()

    async def wait(_):
        begun.set()
        await asyncio.Event().wait()

    turns = [asks(ScriptedCall("probe", {}))]
    async with (
        exporting(system="anthropic") as out,
        harness(turns, wire=False, tools=[probe(wait)], traces=out.traces) as it,
    ):
        underway = await it.start()
        await begun.wait()
        underway.cancel()
        await underway.result()
    (call,) = collector.of("execute_tool")
    assert (call.attributes["oracle.cancelled"], call.status) == (True, "unset")


async def test_a_limit_is_the_reason_and_no_error(collector):
    turns = [asks(ScriptedCall("probe", {"query": str(n)}), text="On it.") for n in range(9)]
    async with (
        exporting(system="anthropic") as out,
        harness(turns, wire=False, tools=[probe(found)], traces=out.traces) as it,
    ):
        await it.ask(limits={"max_iterations": 2})
    (run,) = collector.of("invoke_agent")
    assert (run.attributes["oracle.termination_reason"], run.status) == ("max_iterations", "unset")
    assert run.attributes["oracle.turns"] == len(collector.of("chat")) == 2


async def test_the_plain_loop_is_traced_as_well(collector):
    turns = [asks(ScriptedCall("probe", {})), ScriptedTurn(text="Well.", usage=USAGE)]
    async with (
        exporting(system="anthropic") as out,
        harness(turns, wire=False, control="loop", tools=[probe(found)], traces=out.traces) as it,
    ):
        await it.ask()
    (run,), chats, (call,) = map(collector.of, ("invoke_agent", "chat", "execute_tool"))
    assert collector.children(run) == chats
    assert call.parent_id == chats[0].span_id
    assert "oracle.node.path" not in call.attributes


TREE = """
tree: mine
root:
  sequence:
    - classify_query
    - compose_prompt
    - action: {name: look, call: probe, with: {query: "'x'"}}
    - llm_turn: {name: side, visible: false}
    - llm_turn
    - stop: completed
    - finish
"""


async def test_a_call_of_the_trees_own_belongs_to_the_run_and_side_turns_are_marked(collector):
    turns = [says("Beside it."), says("Well.")]
    async with (
        exporting(system="anthropic") as out,
        harness(turns, wire=False, tools=[probe(found)], traces=out.traces) as it,
    ):
        it.write_tree("mine", TREE)
        await it.ask(tree="mine")
    (run,), (side, turn), (call,) = map(collector.of, ("invoke_agent", "chat", "execute_tool"))
    assert run.name == "invoke_agent mine"
    assert collector.children(run) == [call, side, turn]
    assert call.attributes["oracle.node.path"].endswith("look")
    assert (side.attributes["oracle.turn.is_side"], turn.attributes["oracle.turn.is_side"]) == (True, False)


async def test_the_providers_request_carries_the_span_of_its_turn(collector):
    turns = [asks(ScriptedCall("probe", {})), says("Well.")]
    async with (
        exporting(system="anthropic") as out,
        harness(turns, tools=[probe(found)], traces=out.traces) as it,
    ):
        await it.ask(trace=PARENT)
        requests = it.wire.requests
    turns_seen = collector.of("chat")
    assert [request.headers["traceparent"] for request in requests] == [
        f"00-{TRACE}-{span.span_id}-01" for span in turns_seen
    ]
    assert {request.headers["tracestate"] for request in requests} == {STATE}


async def test_the_providers_sdk_makes_no_spans_of_its_own_beside_ours(collector, monkeypatch):
    """They would take the place of the turn's in the header, and could hold all that is said."""
    monkeypatch.setenv("ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE", "content")
    async with exporting(system="anthropic") as out:
        monkeypatch.setattr(trace, "get_tracer_provider", lambda: out.provider)
        async with harness([says("Well.")], traces=out.traces) as it:
            await it.ask()
            (request,) = it.wire.requests
    (turn,) = collector.of("chat")
    assert request.headers["traceparent"].split("-")[2] == turn.span_id
    assert {span.scope for span in collector.spans} == {"oracle"}


async def test_the_time_to_the_first_text_is_that_of_the_turn(collector):
    async with (
        exporting(system="anthropic") as out,
        harness(
            [asks(ScriptedCall("probe", {})), says("Well.")], wire=False, tools=[probe(found)], traces=out.traces
        ) as it,
    ):
        await it.ask()
    silent, speaks = collector.of("chat")
    assert "oracle.first_text_ms" not in silent.attributes
    assert speaks.attributes["oracle.first_text_ms"] == 0, "time stands still"


async def test_without_traces_the_provider_gets_no_header(collector):
    async with harness([says("Well.")]) as it:
        await it.ask(trace=PARENT)
        (request,) = it.wire.requests
    assert not {"traceparent", "tracestate"} & request.headers.keys()
    assert collector.requests == 0


async def test_without_traces_no_span_is_made_and_a_hosts_is_not_carried(collector, monkeypatch):
    made = []
    monkeypatch.setattr(NonRecordingSpan, "__init__", lambda span, context: made.append(context))
    host = TracerProvider(shutdown_on_exit=False).get_tracer("host")
    with host.start_as_current_span("host"):
        async with harness([says("Well.")]) as it:
            assert it.oracle.begin_trace(it.oracle.check(Ask(CODE_QUESTION))) is NOT_TRACED
            await it.ask(trace=PARENT)
            (request,) = it.wire.requests
    assert made == []
    assert not {"traceparent", "tracestate"} & request.headers.keys()


async def test_a_trace_that_is_not_sampled_is_carried_on_and_not_exported(collector, monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    async with exporting(system="anthropic") as out, harness([says("Well.")], traces=out.traces) as it:
        await it.ask(trace=PARENT)
        (request,) = it.wire.requests
    assert request.headers["traceparent"].startswith(f"00-{TRACE}-")
    assert request.headers["traceparent"].endswith("-00")
    assert collector.spans == []


async def test_the_clients_decision_about_sampling_is_kept(collector):
    unsampled = {"traceparent": [f"00-{TRACE}-{SPAN}-00"]}
    async with (
        exporting(system="anthropic") as out,
        harness([says("Well."), says("Well.")], wire=False, traces=out.traces) as it,
    ):
        await it.ask(trace=unsampled)
        assert collector.spans == []
        await it.ask()
    (run,) = collector.of("invoke_agent")
    assert run.parent_id == ""
    assert run.trace_id != TRACE


async def test_a_tools_own_spans_belong_to_the_call(collector):
    async with exporting(system="anthropic") as out:

        async def look(_):
            with out.traces.tracer.start_as_current_span("inner", attributes={"gen_ai.operation.name": "inner"}):
                return ToolResult("found")

        turns = [asks(ScriptedCall("probe", {})), says("Well.")]
        async with harness(turns, wire=False, tools=[probe(look)], traces=out.traces) as it:
            await it.ask()
        assert not trace.get_current_span().get_span_context().is_valid
    assert by_name(collector)["inner"].parent_id == by_name(collector)["execute_tool probe"].span_id


async def test_a_number_that_no_attribute_can_hold_cannot_break_an_export(collector):
    usage = Usage(input_tokens=10**30, cache_read_tokens=10**30, output_tokens=10**30)
    async with (
        exporting(system="anthropic") as out,
        harness([ScriptedTurn(text="Well.", usage=usage)], wire=False, traces=out.traces) as it,
    ):
        await it.ask()
    assert out.counts.failed == 0
    assert {span.attributes["gen_ai.usage.output_tokens"] for span in collector.spans} == {2**63 - 1}


async def test_text_that_is_not_unicode_and_text_without_end_cannot_break_an_export(collector):
    async def look(_):
        return ToolResult("\ud800" + "x" * 50_000)

    turns = [asks(ScriptedCall("probe", {"query": "\udfff" * 20_000})), says("Well.")]
    async with (
        exporting(system="anthropic", with_content=True) as out,
        harness(turns, wire=False, tools=[probe(look)], traces=out.traces) as it,
    ):
        await it.ask(model="\ud800" * 3_000)
    assert out.counts.failed == 0
    assert len(collector.spans) == 4
    assert max(map(len, texts(collector.spans))) < 20_000
