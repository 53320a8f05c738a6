"""`oracle_client` against the service: a conversation, lost connections, cancel, people's answers, and refusals."""

import asyncio
import inspect
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from oracle_client import Conversation, Event, OracleError, Run, ask_sync

from oracle.testing import ScriptedCall, ScriptedTurn
from tests.faults.proxy import Proxy
from tests.oracle.server.api.conftest import ALICE, HANGS, TOKENS, quiet_logs, start  # noqa: F401  fixtures

TOOL = {"name": "where_is", "input_schema": {"type": "object"}}
ASKS = ScriptedTurn(tool_calls=(ScriptedCall("where_is"),))
TOKEN = ALICE["Authorization"].removeprefix("Bearer ")


def talking(port: int, **options: object) -> Conversation:
    return Conversation(f"http://127.0.0.1:{port}", **options)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def test_a_second_question_goes_on_in_the_conversation(start):  # noqa: F811
    service = await start([ScriptedTurn(text=("Hel", "lo.")), ScriptedTurn(text="Again.")])
    async with talking(service.port) as chat:
        run = await chat.ask("Who are you?")
        events = [event async for event in run]
        assert [event.n for event in events] == list(range(1, len(events) + 1))
        assert "".join(event.text for event in events) == "Hello."
        assert run.done == events[-1].data
        assert [event async for event in run] == []
        assert await (await chat.ask("And now?")).text() == "Again."
        kept = (await service.client.get(f"/api/oracle/conversations/{chat.context_id}")).json()
    assert [each["content"] for each in kept["messages"]] == ["Who are you?", "Hello.", "And now?", "Again."]


async def test_each_event_comes_once_although_the_connection_is_cut_and_a_decision_is_repeated(start):  # noqa: F811
    service = await start([ASKS, ScriptedTurn(text="In Lima.")], timestamp=now)
    async with Proxy("127.0.0.1", service.port) as proxy, talking(proxy.port) as chat:
        run, seen = await chat.ask("Where is it?", tools=[TOOL]), []
        async for event in run:
            seen.append(event)
            if event.type == "question":
                proxy.cut()
                answering = asyncio.create_task(run.answer(event.interrupt, "answer", answer={"output": "Lima"}))
                async with asyncio.timeout(30):
                    await proxy.was_refused.wait()
                proxy.mend()
                await answering
        await run.answer(
            next(each for each in seen if each.type == "question").interrupt, "answer", answer={"output": "Lima"}
        )
        whole = await service.resume(run.id)
    assert [(each.n, each.data) for each in seen] == whole.events
    assert "answered" in [each.type for each in seen]


async def test_what_waits_is_listed_and_answered_from_another_place(start):  # noqa: F811
    service = await start([ASKS, ScriptedTurn(text="In Lima.")], timestamp=now)
    async with talking(service.port) as chat, talking(service.port) as other:
        run = await chat.ask("Where is it?", tools=[TOOL])
        async for event in run:
            if event.type == "question":
                break
        [waiting] = await other.pending()
        assert waiting["run_id"] == run.id
        await other.run(run.id).answer(waiting["interrupt"], "answer", answer={"output": "Lima"})
        assert await run.text() == "In Lima."
        with pytest.raises(OracleError, match="409") as refused:
            await run.answer(waiting["interrupt"], "answer", answer={"output": "Cusco"})
    assert refused.value.status == 409


async def test_a_run_is_cancelled_and_its_text_is_kept(start):  # noqa: F811
    service = await start([HANGS])
    async with talking(service.port) as chat:
        run = await chat.ask("Go on.")
        async for event in run:
            if "here" in event.text:
                await run.cancel()
    assert run.done is not None
    assert run.done["termination_reason"] == "user_cancelled"


async def test_a_run_is_read_from_where_it_was_left(start):  # noqa: F811
    service = await start([ScriptedTurn(text="Hello.")])
    async with talking(service.port) as chat:
        last = [event async for event in await chat.ask("Hi")][-1]
        assert [event.n async for event in chat.run(last.data["run_id"], after=last.n - 1)] == [last.n]
        assert [event async for event in chat.run(last.data["run_id"], after=last.n)] == []


async def test_a_wait_that_is_longer_than_the_patience_is_a_refusal(start):  # noqa: F811
    service = await start([HANGS], tokens=TOKENS, runs_per_user=1)
    async with talking(service.port, token=TOKEN) as chat, talking(service.port, token=TOKEN, patience_s=0.1) as other:
        first = await chat.ask("Go on.")
        with pytest.raises(OracleError, match="429"):  # it would have to wait for longer than it may
            await other.ask("And this?")
        await first.cancel()


@pytest.mark.parametrize("status", [429, 503])
async def test_a_retry_after_is_waited_for(status, monkeypatch):
    asked, slept = [], []

    async def note(seconds: float) -> None:
        slept.append(seconds)

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.headers["Idempotency-Key"])
        if len(asked) < 3:
            return httpx2.Response(status, headers={"Retry-After": "7"}, json={"detail": "later"})
        return httpx2.Response(202, json={"run_id": "r", "context_id": "c"})

    monkeypatch.setattr(asyncio, "sleep", note)
    async with Conversation("http://oracle", transport=httpx2.MockTransport(answer)) as chat:
        assert (await chat.ask("Hi")).id == "r"
    assert slept == [7.0, 7.0]
    assert len(set(asked)) == 1


@pytest.mark.parametrize(("question", "token", "status"), [("", TOKEN, 422), ("Hi", "another", 401)])
async def test_what_is_refused_is_raised_at_once(start, question, token, status):  # noqa: F811
    service = await start(tokens=TOKENS)
    async with talking(service.port, token=token) as chat:
        with pytest.raises(OracleError) as refused:
            await chat.ask(question)
    assert refused.value.status == status
    assert refused.value.detail


async def test_a_service_that_is_not_there_is_given_up_after_the_patience():
    async with Proxy("127.0.0.1", 9) as proxy:
        proxy.cut()
        async with talking(proxy.port, patience_s=0.3) as chat:
            with pytest.raises(httpx2.TransportError):
                await chat.ask("Hi")


async def test_programs_without_asyncio_read_the_same_and_cancel_by_closing(start):  # noqa: F811
    service = await start([ScriptedTurn(text="Hello."), HANGS])
    url = f"http://127.0.0.1:{service.port}"

    def read() -> tuple[list[Event], str]:
        whole = list(ask_sync(url, "Hi", tree="oracle"))
        stopped = ask_sync(url, "Go on.", context_id=whole[-1].data["context_id"])
        text = next(event.text for event in stopped if event.text)
        stopped.close()
        return whole, text

    whole, text = await asyncio.to_thread(read)
    assert ("".join(event.text for event in whole), text) == ("Hello.", "It begins ")
    [last, _] = (await service.client.get("/api/runs")).json()["runs"]
    done = (await service.resume(last["run_id"])).done
    assert done["termination_reason"] == "user_cancelled"


@pytest.mark.long("starts a process")
async def test_the_example_prints_an_answer(start):  # noqa: F811
    service = await start([ScriptedTurn(text="Hello.")])
    example = Path(__file__).parents[2] / "examples" / "client.py"
    words = (sys.executable, example, "Hi", f"http://127.0.0.1:{service.port}")
    ran = await asyncio.to_thread(subprocess.run, words, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "Hello.\n", "")


def test_everything_public_has_a_docstring_and_the_package_its_types():
    assert all(inspect.getdoc(each) for each in (Conversation, Conversation.ask, Run.answer, Event, ask_sync))
    assert Path(inspect.getfile(Conversation)).with_name("py.typed").is_file()
