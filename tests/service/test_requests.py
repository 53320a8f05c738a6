"""Requests that are wrong, large or hostile: 4xx with a word that helps, and the model is not asked."""

import asyncio

import pytest

from tests.acceptance.scripts import answers
from tests.service.provider import Desk
from tests.service.server import Client, Server
from tests.service.test_auth import raw, statuses

pytestmark = pytest.mark.asyncio(loop_scope="session")
HEAD = b"POST /api/oracle HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


async def test_a_question_may_have_20_000_characters_of_any_script(client: Client, desk: Desk) -> None:
    question = "\U0001f30d" * 20_000
    desk.play(answers("Yes."))
    heard = await client.ask(question)
    kept = await client.conversation(heard.done["context_id"])
    assert kept["messages"][0]["content"] == question


@pytest.mark.long("sends megabytes")
async def test_a_body_that_is_too_large_is_refused_with_an_answer_that_arrives(
    client: Client, desk: Desk, local_server: Server
) -> None:
    for _ in range(10):  # the refusal must not be lost in a connection that is closed too early
        response = await client.http.post("/api/oracle", json={"question": "x" * 5_000_000})
        assert response.status_code == 413
    assert statuses(await raw(local_server, HEAD + b"Content-Length: 999999999\r\n\r\n"))[0] == 413
    assert desk.requests == []


async def test_a_request_that_never_ends_delays_no_other(client: Client, desk: Desk, local_server: Server) -> None:
    host, port = local_server.url.removeprefix("http://").split(":")
    writers = []
    for _ in range(20):
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(HEAD + b"Content-Length: 100\r\n\r\n{")
        await writer.drain()
        writers.append(writer)
    desk.play(answers("Yes."))
    assert (await client.ask()).answer == "Yes."
    for writer in writers:
        writer.close()


@pytest.mark.parametrize(
    "name", ["%00", "%ff%fe", "%ed%a0%80", "x" * 3_000, "..%2f..%2fetc%2fpasswd", "%F0%9F%8C%8D", "{x}", "1'--"]
)
async def test_hostile_names_in_paths_are_unknown(client: Client, name: str) -> None:
    for path in (
        f"/api/oracle/runs/{name}",
        f"/api/oracle/runs/{name}/stream",
        f"/api/oracle/conversations/{name}",
        f"/api/runs/{name}/ticks",
        f"/api/runs/{name}/signals",
    ):
        response = await client.http.get(path)
        assert 400 <= response.status_code < 500, (path, response.status_code)
        assert response.json()["detail"]
    assert (await client.http.post(f"/api/oracle/runs/{name}/cancel")).status_code in (400, 404, 422)
    assert (await client.http.delete(f"/api/oracle/conversations/{name}")).status_code in (400, 404, 422)
