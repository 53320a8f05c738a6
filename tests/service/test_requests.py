"""Requests that are wrong, large or hostile: 4xx with a word that helps, and the model is not asked."""

import asyncio
import json

import pytest

from tests.acceptance.scripts import answers
from tests.service.provider import Desk
from tests.service.server import Client, Server
from tests.service.test_auth import raw, statuses

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATHS = ["/api/oracle", "/api/oracle/stream"]
JSON = {"Content-Type": "application/json"}
HEAD = b"POST /api/oracle HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

WRONG = {
    "no question": {},
    "empty question": {"question": ""},
    "blank question": {"question": " \n"},
    "20 001 characters": {"question": "x" * 20_001},
    "question is a number": {"question": 7},
    "question is a list": {"question": ["x"]},
    "NUL in the question": {"question": "a\x00b"},
    "lone surrogate in the question": {"question": "\ud800"},
    "unknown field": {"question": "x", "questions": "y"},
    "unknown tree": {"question": "x", "tree": "no-such-tree"},
    "tree is a path": {"question": "x", "tree": "../../etc/passwd"},
    "NUL in the tree": {"question": "x", "tree": "oracle\x00"},
    "surrogate in the tree": {"question": "x", "tree": "\udfff"},
    "unknown limit": {"question": "x", "limits": {"max_iteration": 3}},
    "limit too high": {"question": "x", "limits": {"max_iterations": 51}},
    "limits are a list": {"question": "x", "limits": []},
    "limit twice": {"question": "x", "limits": {"max_iterations": 3, "maxIterations": 4}},
    "context is a number": {"question": "x", "context_id": 7},
    "surrogate in the model": {"question": "x", "model": "\ud800"},
    "surrogate in the project": {"question": "x", "project_id": "\ud800"},
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
async def test_a_wrong_request_is_reported_field_by_field(client: Client, desk: Desk, path: str, body: object) -> None:
    response = await client.http.post(path, content=json.dumps(body), headers=JSON)
    assert response.status_code == 422, response.text
    details = response.json()["detail"]
    assert details
    assert all({"loc", "msg", "type"} <= detail.keys() for detail in details)
    assert len(response.content) < 5_000  # what was sent is not sent back without bounds
    assert desk.requests == []


@pytest.mark.parametrize("context_id", ["x\x00y", "\ud800", "x" * 10_000, "", "../x", "a/b", "é" * 64, "%00"])
async def test_a_context_that_cannot_be_is_unknown_or_refused(client: Client, desk: Desk, context_id: str) -> None:
    body = json.dumps({"question": "x", "context_id": context_id})
    response = await client.http.post("/api/oracle", content=body, headers=JSON)
    assert response.status_code in (404, 422), response.text
    assert desk.requests == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"x"',
        b"NaN",
        b'{"question": NaN}',
        b'{"question": "x", "limits": {"max_iterations": Infinity}}',
        b'{"question": "x", "limits": {"max_iterations": ' + b"9" * 5_000 + b"}}",
        b"[" * 100_000 + b"]" * 100_000,
        b'{"question": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
        b'{"question": "\xff\xfe"}',
        b'\xef\xbb\xbf{"question": ""}',
        b'{"question": "x", "question": ""}',
    ],
    ids=lambda body: repr(body[:30]),
)
async def test_json_that_is_none_is_refused(client: Client, desk: Desk, body: bytes) -> None:
    for path in (*PATHS, "/api/settings/agent-config"):
        method = "PUT" if "settings" in path else "POST"
        response = await client.http.request(method, path, content=body, headers=JSON)
        assert 400 <= response.status_code < 500, response.text
        assert "detail" in response.json()
        assert len(response.content) < 5_000
    assert desk.requests == []


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
async def test_a_body_that_is_not_called_json_is_refused(client: Client, desk: Desk, content_type: str) -> None:
    response = await client.http.post(
        "/api/oracle", content=b'{"question": "x"}', headers={"Content-Type": content_type}
    )
    assert 400 <= response.status_code < 500
    assert desk.requests == []


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


@pytest.mark.long("sends megabytes")
async def test_a_body_without_a_length_is_bounded_too(desk: Desk, local_server: Server) -> None:
    piece = b"x" * 0x8000
    chunks = b"".join(b"8000\r\n" + piece + b"\r\n" for _ in range(32))  # 1 048 576 bytes
    for end in (b"0\r\n\r\n", b""):  # for one that does not end nobody waits for long
        answer = await raw(local_server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + end)
        assert statuses(answer) == [413]
        assert b'"detail"' in answer
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


@pytest.mark.parametrize("query", ["limit=0", "limit=-1", "limit=201", "limit=x", "limit=" + "9" * 50, "limit=1.5"])
async def test_a_list_has_bounds(client: Client, query: str) -> None:
    assert (await client.http.get(f"/api/runs?{query}")).status_code == 422


async def test_runs_are_listed_newest_first_and_page_by_page(client: Client, desk: Desk) -> None:
    desk.play(*(answers(f"Answer {number}.") for number in range(5)))
    asked = [(await client.ask()).run_id for _ in range(5)]
    seen: list[str] = []
    before: dict[str, str] = {}
    while len(seen) < 5:
        page = (await client.http.get("/api/runs", params={"limit": 2} | before)).json()["runs"]
        assert page
        seen += [run["run_id"] for run in page]
        before = {"before": seen[-1]}
    assert seen[:5] == asked[::-1]


async def test_ticks_of_a_run_tell_what_the_tree_did(client: Client, desk: Desk) -> None:
    desk.play(answers("Yes."))
    heard = await client.ask()
    recorded = (await client.http.get(f"/api/runs/{heard.run_id}/ticks")).json()
    assert recorded["run_id"] == heard.run_id
    assert recorded["ticks"]
    assert any("llm_turn" in path for path in recorded["nodes"])
    run = await client.run(heard.run_id)
    assert run["tree"]["name"] == "oracle"
    assert run["tree"]["version"] == recorded["version"]


async def test_headers_of_a_stream_name_its_run(client: Client, desk: Desk) -> None:
    desk.play(answers("Yes."))
    async with client.stream() as stream:
        await stream.rest()
    headers = stream.response.headers
    assert headers["location"] == f"/api/oracle/runs/{stream.done['run_id']}"
    assert headers["x-run-id"] == stream.done["run_id"]
    assert "no-store" in headers["cache-control"] or "no-cache" in headers["cache-control"]
    assert headers["x-content-type-options"] == "nosniff"
