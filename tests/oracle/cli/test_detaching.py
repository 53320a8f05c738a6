"""`oracle ask --detach` and `oracle runs watch --answer`: a run that nobody waits for, and its answer."""

import asyncio
import json
import sys

import httpx2
import pytest

from bt_runtime.testing import FakeClock
from oracle.cli.errors import CommandError
from oracle.cli.run_sources.served import ServedSource, open_service
from oracle.core.chunks import Content, Done
from oracle.runs.storage.errors import UnclearRunError
from oracle.testing import ScriptedModel, ScriptedTurn
from tests.oracle.cli.test_run_sources import CALL, places  # noqa: F401  a fixture
from tests.oracle.runs.storage.proxy import proxied
from tests.oracle.server.api.conftest import ALICE, HANGS, TOKENS, database_url, start  # noqa: F401  fixtures

PATIENCE_S = 30
ANSWER = ScriptedTurn(text=("One ", "two."))


async def watched(*arguments):
    """What the command says, in a process of its own: it handles signals."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "oracle", "runs", "watch", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


@pytest.mark.long("starts two processes")
async def test_a_run_is_begun_left_and_watched(oracle, start, monkeypatch):  # noqa: F811
    service = await start([CALL, ANSWER], tokens=TOKENS)
    url = f"http://127.0.0.1:{service.port}"
    monkeypatch.setenv("ORACLE_TOKEN", ALICE["Authorization"].removeprefix("Bearer "))
    limits = ("--limit", "max_iterations=3")
    begun = await asyncio.to_thread(oracle, "ask", "Which files?", "--detach", "--url", url, *limits)
    assert (begun.code, begun.err) == (0, "")
    run_id = begun.out.strip()
    code, out, err = await watched("--answer", run_id, "--url", url)
    assert (code, out) == (0, "Looking. \n\nOne two.\n")
    assert "✓ list_files()" in err
    monkeypatch.setenv("ORACLE_URL", url)
    code, out, err = await watched("--json", run_id)
    assert (code, err) == (0, "")
    assert [json.loads(line) for line in out.splitlines()] == (await service.resume(run_id, headers=ALICE)).chunks
    told = await asyncio.to_thread(oracle, "ask", "Which files?", "--detach", "--json")
    run = json.loads(told.out)
    assert (run["question"], run["status"], run["limits"]["max_iterations"]) == ("Which files?", "running", 15)
    row = await service.parts.store.runs.find(run_id)
    assert (row.input["detached"], row.limits["max_iterations"]) == (True, 3)


async def test_what_the_service_refuses_is_said(oracle, start):  # noqa: F811
    service = await start(provider_answers=False)
    url = ("--detach", "--url", f"http://127.0.0.1:{service.port}")
    ran = await asyncio.to_thread(oracle, "ask", "q", "--limit", "max_iterations=0", *url)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("Error: the service answered with status 422: limits.max_iterations: ")
    ran = await asyncio.to_thread(oracle, "ask", "q", "--model", "m", *url)
    assert "model: the offline model answers, so no other model can be named" in ran.err


@pytest.mark.parametrize(
    "arguments", [("--url", "http://127.0.0.1:9"), ("--detach", "--project", "."), ("--detach", "--vault", ".")]
)
def test_options_that_do_not_go_together_are_refused(oracle, arguments):
    assert oracle("ask", "q", *arguments).code == 2


async def test_both_places_have_the_same_chunks_while_the_run_goes_on_and_after_it(places):  # noqa: F811
    found = await places([CALL, HANGS])
    async with found.service.asking("q") as asked:
        await asked.until("here")
        begun = {name: asyncio.Event() for name in found.all}

        async def follow(name, source):
            seen = []
            async for chunk in source.chunks(asked.run_id):
                seen.append(chunk)
                if isinstance(chunk, Content) and chunk.content.endswith("here "):  # pieces may have been joined
                    begun[name].set()
            return seen

        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
            following = [group.create_task(follow(*each)) for each in found.all.items()]
            for each in begun.values():
                await each.wait()
            await found.service.client.post(f"/api/oracle/runs/{asked.run_id}/cancel")
    live = [task.result() for task in following]
    later = [[chunk async for chunk in source.chunks(asked.run_id)] for source in found.all.values()]
    assert all(each == live[0] for each in (*live, *later))
    assert isinstance(live[0][-1], Done)


async def test_of_a_run_that_is_none_or_has_no_texts_there_are_no_chunks(places):  # noqa: F811
    found = await places([ANSWER])
    asked = await found.service.ask()
    await found.service.client.delete(f"/api/oracle/conversations/{asked.done['context_id']}")
    for source in found.all.values():
        with pytest.raises(UnclearRunError):
            await anext(source.chunks("f" * 32))
        with pytest.raises(CommandError, match=r"deleted|410"):
            await anext(source.chunks(asked.run_id))


async def test_chunks_and_ticks_are_followed_over_lost_connections(start):  # noqa: F811
    gate = asyncio.Event()
    said = ScriptedTurn(text='One. <signal type="need_turn"><reason>r</reason></signal>')
    service = await start(
        model=ScriptedModel([said, ScriptedTurn(text="Two.", delay_s=1)], sleep=lambda _: gate.wait())
    )
    begun = (await service.client.post("/api/oracle/runs", json={"question": "q"})).json()
    async with (
        proxied(f"postgresql://127.0.0.1:{service.port}") as (address, proxy),
        httpx2.AsyncClient(base_url=address.replace("postgresql", "http"), trust_env=False) as client,
        asyncio.timeout(PATIENCE_S),
    ):
        source = ServedSource(client, clock=FakeClock())
        chunks, histories = source.chunks(begun["run_id"]), source.follow(begun["run_id"])
        read = [await anext(chunks)]
        assert len((await anext(histories)).ticks) >= 1
        proxy.cut()
        gate.set()
        read += [chunk async for chunk in chunks]
        *_, history = [history async for history in histories]
    assert "".join(chunk.content for chunk in read if isinstance(chunk, Content)) == "One. \n\nTwo."
    assert sum(isinstance(chunk, Done) for chunk in read) == 1
    assert [tick.tick for tick in history.ticks] == list(range(1, len(history.ticks) + 1))
    assert history.end.reason == "completed"


async def test_a_service_that_stays_away_is_given_up(start):  # noqa: F811
    service = await start([HANGS])
    begun = (await service.client.post("/api/oracle/runs", json={"question": "q"})).json()
    async with (
        proxied(f"postgresql://127.0.0.1:{service.port}") as (address, proxy),
        httpx2.AsyncClient(base_url=address.replace("postgresql", "http"), trust_env=False) as client,
    ):
        clock = FakeClock()
        chunks = ServedSource(client, clock=clock).chunks(begun["run_id"])
        await anext(chunks)
        proxy.refuses = True
        proxy.cut()
        with pytest.raises(CommandError, match="cannot be read"):
            async for _ in chunks:
                pass
        assert 200 < clock.now() < 600


async def test_a_question_whose_answer_is_lost_is_sent_again_and_asked_once(start):  # noqa: F811
    service = await start([ANSWER])
    async with (
        proxied(f"postgresql://127.0.0.1:{service.port}") as (address, proxy),
        open_service(address.replace("postgresql", "http")) as source,
    ):
        proxy.freeze()
        asking = asyncio.create_task(source.begin({"question": "q"}))
        await asyncio.sleep(0)
        proxy.cut()
        proxy.thaw()
        run = await asking
    assert (await service.resume(run["run_id"])).text == "One two."
    assert len((await service.client.get("/api/runs")).json()["runs"]) == 1
