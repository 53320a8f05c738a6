"""A whole service in the test's own loop, from its address to the last word after SIGTERM."""

import asyncio
import json
import os
import select
import signal
import socket
from contextlib import asynccontextmanager

import httpx2
import pytest
import uvloop
from structlog.testing import capture_logs

from oracle.core.errors import OperatorError
from oracle.llm.offline import OfflineModel
from oracle.runs.storage.errors import StoreSetupError
from oracle.server.api.load import OwnBuckets
from oracle.server.process.process import WorkerPlace, serve
from oracle.server.process.server import bind
from oracle.server.process.workers import Worker
from oracle.server.settings.reading import read_settings
from oracle.testing import ScriptedModel, ScriptedTurn
from oracle.tools import ToolSetupError


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


class Held(ScriptedModel):
    """Says something, and then nothing until it is released."""

    def __init__(self):
        super().__init__([])
        self.released = asyncio.Event()

    async def stream(self, request):
        model = ScriptedModel([ScriptedTurn(text="So far so good.")])
        async for event in model.stream(request):
            yield event
            await self.released.wait()


@asynccontextmanager
async def service(model=None, **given):
    """A client of a service that listens, and the task that ends with it."""
    listening = asyncio.get_running_loop().create_future()
    settings = read_settings(**given)
    ran = asyncio.create_task(
        serve(settings, host="127.0.0.1", port=0, announce=listening.set_result, model=model or ScriptedModel([]))
    )
    async with asyncio.timeout(30):
        await asyncio.wait([ran, listening], return_when=asyncio.FIRST_COMPLETED)
        if ran.done():
            ran.result()
        told = listening.result()
        try:
            async with httpx2.AsyncClient(base_url=told.url, timeout=20) as client:
                yield client, ran, told
        finally:
            if not ran.done():
                terminate()
            assert await ran == 0


def terminate():
    os.kill(os.getpid(), signal.SIGTERM)


def chunks_of(text):
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


async def test_a_service_answers_until_it_is_stopped():
    async with service(ScriptedModel([ScriptedTurn(text="Hello there.")])) as (client, ran, told):
        answered = await client.post("/api/oracle", json={"question": "Hi!"})
        assert answered.json()["answer"] == "Hello there."
        assert (told.store, told.auth) == ("SQLite", "none (one user, this machine only)")
        figures = (await client.get("/metrics")).text
        assert 'oracle_runs_ended_total{reason="completed",tree="oracle"} 1.0' in figures
        assert "oracle_store_writable 1.0" in figures
        terminate()
        assert await ran == 0
        with pytest.raises(httpx2.ConnectError):
            await client.get("/healthz")


async def test_a_worker_beats_when_it_listens_and_while_its_loop_runs():
    (pulse, beat), (stopping, stop) = os.pipe(), os.pipe()
    listening = asyncio.get_running_loop().create_future()
    with bind("127.0.0.1", 0) as listener, bind("127.0.0.1", 0) as figures:
        worker = Worker(1, is_first=True, listener=listener, stopping=stopping, pulse=beat)
        place = WorkerPlace(worker, [figures], OwnBuckets())
        announce, settings = listening.set_result, read_settings()
        ran = asyncio.create_task(
            serve(settings, host="127.0.0.1", port=0, announce=announce, model=ScriptedModel([]), place=place)
        )
        async with asyncio.timeout(30):
            for _ in range(3):
                assert await asyncio.to_thread(os.read, pulse, 1)
            assert listening.done()
            os.close(stop)
            assert await ran == 0
    for each in (pulse, beat, stopping):
        os.close(each)


def test_connections_that_come_at_once_are_accepted_in_a_few_rounds_of_the_loop():
    rounds = 20

    async def answered_soon():
        async with service() as (client, _, told):
            await client.get("/healthz")
            address = ("127.0.0.1", int(told.url.rpartition(":")[2]))
            clients = [socket.create_connection(address) for _ in range(3 * rounds)]
            for each in clients:
                each.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for _ in range(rounds):
                await asyncio.sleep(0)
            answered, _, _ = select.select(clients, [], [], 0)
            for each in clients:
                each.close()
            return len(answered)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(answered_soon()) > rounds


async def test_handlers_of_signals_are_as_they_were_afterwards():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    async with service():
        pass
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


async def test_while_it_drains_it_answers_and_refuses_new_queries_and_lets_old_ones_end():
    model = Held()
    async with service(model, drain_s=20) as (client, ran, _):
        async with client.stream("POST", "/api/oracle/stream", json={"question": "Hi!"}) as stream:
            lines = stream.aiter_lines()
            async for line in lines:
                if "So far" in line:
                    break
            terminate()
            while (refused := await client.get("/readyz")).status_code != 503:
                pass
            assert refused.headers["retry-after"]
            refused = await client.post("/api/oracle", json={"question": "And now?"})
            assert refused.status_code == 503
            assert refused.headers["retry-after"]
            assert (await client.get("/healthz")).status_code == 200
            model.released.set()
            rest = chunks_of("\n".join([line async for line in lines]))
        assert rest[-1]["type"] == "done"
        assert rest[-1]["termination_reason"] == "completed"
        assert await ran == 0


async def test_a_query_that_does_not_end_in_time_goes_on_with_the_next_start():
    async with service(Held(), drain_s=0) as (client, ran, _):
        async with client.stream("POST", "/api/oracle/stream", json={"question": "Hi!"}) as stream:
            run, lines = stream.headers["x-run-id"], stream.aiter_lines()
            async for line in lines:
                if "So far" in line:
                    break
            terminate()
            rest = chunks_of("\n".join([line async for line in lines]))
        assert rest == []
        assert await ran == 0
    async with service(ScriptedModel([ScriptedTurn(text=" And to its end.")])) as (client, _, _):
        told = chunks_of((await client.get(f"/api/oracle/runs/{run}/stream")).text)
    assert "".join(each["content"] for each in told if each["type"] == "content") == "So far so good. And to its end."
    assert [each["system_type"] for each in told if each["type"] == "system"] == ["recovered"]
    assert told[-1]["termination_reason"] == "completed"


@pytest.mark.long("starts a whole service")
async def test_a_loop_that_is_late_again_and_again_takes_no_queries_until_it_keeps_up(monkeypatch):
    loop = asyncio.get_running_loop()
    real, late_s = loop.time, 0.0
    monkeypatch.setattr(loop, "time", lambda: real() + late_s)
    async with service() as (client, _, _):
        while (await client.get("/readyz")).status_code != 200:  # what every query needs is being loaded
            pass
        while (ready := await client.get("/readyz")).status_code != 503:
            late_s += 2.0
        assert ready.json()["detail"].startswith("overloaded: ")
        assert (await client.post("/api/oracle", json={"question": "Hi!"})).status_code == 503
        while (await client.get("/readyz")).status_code != 200:
            pass
        figures = (await client.get("/metrics")).text
    assert "oracle_loop_lag_seconds_count 0.0" not in figures


async def test_users_have_notes_of_their_own_which_are_no_project_files(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    tokens = {"a" * 16: "Anna", "b" * 16: "bob"}
    given = {"project_dir": project, "data_dir": project / "data", "tokens": tokens, "llm": "offline"}
    notes = project / "data" / "vault" / "%41nna"
    notes.mkdir(parents=True)
    (notes / "plan.md").write_text("# Plan\n\nThe heron lands on Friday.\n")
    question = {"question": "Where is heron in the code and in the notes?"}
    async with service_offline(**given) as (client, told):
        assert told.auth == "tokens"
        answers = {}
        for token, user in tokens.items():
            got = await client.post("/api/oracle", json=question, headers={"Authorization": f"Bearer {token}"})
            answers[user] = got.json()
    assert "heron lands on Friday" in answers["Anna"]["answer"]
    assert {each["source_type"] for each in answers["Anna"]["sources"]} == {"vault"}
    assert "lands on Friday" not in answers["bob"]["answer"]
    assert answers["bob"]["sources"] == []


@asynccontextmanager
async def service_offline(**given):
    async with service(OfflineModel(), **given) as (client, _, told):
        yield client, told


async def test_a_token_that_can_be_guessed_is_warned_of_and_not_shown():
    with capture_logs() as logs:
        async with service(tokens={"hush": "anna"}, jwt_secret="hush" * 8) as (_, _, told):
            assert told.auth == "JWT and tokens"
    assert "auth.weakened" in [each["event"] for each in logs]
    assert "hush" not in str(logs) + repr(told)


async def test_a_port_in_use_is_reported_before_anything_is_opened(tmp_path):
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OperatorError, match=rf":{port}\b.*the port is in use.*--port"):
            await serve(read_settings(), host="127.0.0.1", port=port, announce=print)
    assert not (tmp_path / ".oracle").exists()


async def test_a_second_service_on_the_same_data_is_refused_with_what_to_do():
    async with service():
        with pytest.raises(StoreSetupError, match="ORACLE_DATABASE_URL"):
            await serve(read_settings(), host="127.0.0.1", port=0, announce=print)


async def test_a_project_that_is_not_there_keeps_it_from_starting():
    with pytest.raises(ToolSetupError, match="--project or ORACLE_PROJECT_DIR"):
        await serve(read_settings(project_dir="none"), host="127.0.0.1", port=0, announce=print)


async def test_notes_that_cannot_be_reached_are_a_503_and_the_reason_is_logged(tmp_path):
    token = "a" * 16
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "anna").write_text("no folder")
    with capture_logs() as logs:
        async with service_offline(vault_dir=vault, tokens={token: "anna"}) as (client, _):
            headers = {"Authorization": f"Bearer {token}"}
            answered = await client.post("/api/oracle", json={"question": "Hi!"}, headers=headers)
            left = await client.get("/api/runs", headers=headers)
    assert (answered.status_code, "Retry-After" in answered.headers) == (503, True)
    assert "vault" not in answered.text
    assert left.json()["runs"] == []
    assert [str(vault / "anna") in each["problem"] for each in logs if each["event"] == "tools.refused"] == [True]
