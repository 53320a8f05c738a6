"""Whole queries of a provider that sends half a call, far too much, nothing, or another usage than it charges."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from bt_runtime.testing import FakeClock
from oracle.agent.answering import Ask
from oracle.features.openai_compatible.model import CompatibleModel, RetryPolicy
from oracle.features.openai_compatible.providers import Provider
from oracle.llm.scripted import ScriptedCall, ScriptedTurn
from oracle.server.settings.reading import read_settings
from oracle.server.wiring.service import open_service
from oracle.tools import ToolResult
from tests.acceptance.harness import SUFFICIENT, Harness, harness, made_tool
from tests.support.provider import Disturbed
from tests.support.provider.completions import Chunks, CompletionsServer
from tests.support.provider.wire import Reply

ANSWER = ScriptedTurn(text=f"This is the answer.{SUFFICIENT}")
CALL = ScriptedTurn(text="I look.", tool_calls=(ScriptedCall("probe", {"query": "a long enough query"}),))


@asynccontextmanager
async def connected(
    turns: list[Reply], ran: list[Mapping[str, Any]], **given: Any
) -> AsyncIterator[tuple[Harness, CompletionsServer]]:
    """A harness whose model is asked by chat completions; `ran` gets what the tool `probe` is called with."""

    async def probe(arguments: Mapping[str, Any]) -> ToolResult:
        ran.append(arguments)
        return ToolResult("Found.")

    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(CompletionsServer(turns))
        model = CompatibleModel(
            "local", Provider(base_url=f"{server.url}/v1"), model="m", retry=RetryPolicy(max_retries=0)
        )
        stack.push_async_callback(model.aclose)
        yield await stack.enter_async_context(harness(model=model, tools=[made_tool(probe)], **given)), server


def piece(arguments: str, **more: Any) -> dict[str, Any]:
    """A piece of a call of `probe`."""
    return {"tool_calls": [{"index": 0, "function": {"arguments": arguments, **more}}]}


HALF = (piece("", name="probe"), piece('{"query": "a lo'))


@pytest.mark.parametrize(
    ("reply", "reason", "requests"),
    [
        pytest.param(Disturbed(CALL, "reset"), "error", 1, id="the-connection-is-lost"),
        pytest.param(Chunks(chunks=HALF, finish=None, is_done=False), "error", 1, id="the-stream-ends"),
        pytest.param(Chunks(chunks=HALF, finish="length"), "completed", 2, id="cut-off-by-its-limit"),
        pytest.param(Chunks(chunks=HALF, finish="tool_calls"), "completed", 2, id="said-to-be-whole"),
        pytest.param(Chunks(chunks=(*HALF, {"error": {"message": "oops"}})), "error", 1, id="an-error-follows"),
    ],
)
async def test_half_a_call_is_never_run(reply, reason, requests):
    ran: list[Mapping[str, Any]] = []
    async with connected([reply, ANSWER], ran) as (it, server):
        answered = await it.ask()
    assert (ran, answered.reason, len(server.requests)) == ([], reason, requests)
    assert [request.complaint for request in server.requests] == [None] * requests
    assert "<signal" not in answered.answer
    if reason == "completed":
        assert answered.answer.endswith("This is the answer.")


async def test_an_answer_of_100_mb_ends_with_the_budget_and_is_read_no_further():
    line = Chunks(chunks=({"content": "x" * 100_000},) * 20 + ({"content": "y" * 1_000_000},) * 80)
    async with connected([line], []) as (it, server):
        answered = await it.ask(limits={"token_budget": 20_000})
        await server.wait_disconnected()
    assert answered.reason == "token_budget"
    assert len(answered.answer) < 400_000
    assert "y" not in answered.answer


async def test_silence_ends_with_the_time_of_the_query_and_keeps_what_was_said():
    clock = FakeClock(jump=False)
    half = Disturbed(ScriptedTurn(text="Half an answer.<signal type="), "hang")
    async with connected([half], [], clock=clock) as (it, server):
        query = await it.start(limits={"timeout_seconds": 60})
        await query.until_content("Half an answer.")
        clock.advance(60)
        answered = await query.result()
        await server.wait_disconnected()
    assert answered.reason == "timeout"
    assert answered.answer.startswith("Half an answer.")
    assert "signal" not in answered.answer


@pytest.mark.parametrize(
    ("usage", "used", "is_estimated"),
    [
        pytest.param({"prompt_tokens": 900, "completion_tokens": 20}, 920, False, id="as-it-charges"),
        pytest.param({"prompt_tokens": 0, "completion_tokens": 0}, None, True, id="nothing"),
        pytest.param({"prompt_tokens": 10**30, "completion_tokens": 10**30}, None, True, id="more-than-there-can-be"),
        pytest.param({"prompt_tokens": "many"}, None, True, id="no-numbers"),
        pytest.param(
            {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 99}},
            5,
            False,
            id="more-cached-than-sent",
        ),
    ],
)
async def test_usage_that_cannot_be_true_is_estimated(usage, used, is_estimated):
    said = Chunks(chunks=({"content": ANSWER.text}, {"choices": [], "usage": usage}))
    async with connected([said], []) as (it, _):
        answered = await it.ask("Hello!")
    assert answered.done.tokens_estimated is is_estimated
    if used is None:
        assert 1_500 < answered.done.tokens_used < 4_000  # the prompt, and few words
    else:
        assert answered.done.tokens_used == used


async def test_a_server_that_reports_more_than_the_budget_ends_the_query_with_it():
    dear = {"choices": [], "usage": {"prompt_tokens": 900_000, "completion_tokens": 5}}
    call = ScriptedTurn(tool_calls=(ScriptedCall("probe"),))
    chunks = Chunks(chunks=(piece("{}", name="probe"), dear), finish="tool_calls")
    async with connected([chunks, call], ran := []) as (it, server):
        answered = await it.ask()
    assert (answered.reason, ran, len(server.requests)) == ("token_budget", [], 1)
    assert answered.done.tokens_used == 900_005


@pytest.mark.long("starts a service")
async def test_a_run_is_kept_whatever_usage_its_server_reports(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    usage = {"prompt_tokens": 10**30, "completion_tokens": 2**63}
    async with CompletionsServer([Chunks(chunks=({"content": "Hello."}, {"choices": [], "usage": usage}))]) as server:
        file = tmp_path / "providers.yaml"
        file.write_text(f"providers: {{local: {{base_url: '{server.url}/v1'}}}}")
        async with open_service(read_settings(model="local/m", providers=file, data_dir=tmp_path / "data")) as parts:
            live = await parts.runs.start(Ask("Hello!"))
            await live.wait()
            page = await parts.store.log.page(live.record.id)
    done = json.loads(page.chunks[-1].data)
    assert (done["type"], done["termination_reason"], done["tokens_estimated"]) == ("done", "completed", True)
