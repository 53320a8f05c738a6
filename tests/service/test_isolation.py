"""Whatever is another user's looks like what never was: 404, the same body, the same headers."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.acceptance.scripts import ACTION_QUESTION, VAULT_QUESTION, answers, calls, says
from tests.service.provider import Desk
from tests.service.server import Client, Connect, Server
from tests.service.users import TOKENS, bearer_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECRET = "the-word-is-xyzzy"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the API that names a run or a conversation."""

    method: str
    path: str
    body: dict[str, Any] | None = None


def calls_naming(run_id: str, context_id: str) -> Iterator[Call]:
    """Every call with a name in it."""
    yield Call("GET", f"/api/oracle/runs/{run_id}")
    yield Call("GET", f"/api/oracle/runs/{run_id}/stream")
    yield Call("GET", f"/api/oracle/runs/{run_id}/stream?after=1")
    yield Call("GET", f"/api/oracle/runs/{run_id}/stream?after=1000000")
    yield Call("POST", f"/api/oracle/runs/{run_id}/cancel")
    yield Call("GET", f"/api/runs/{run_id}/ticks")
    yield Call("GET", f"/api/runs/{run_id}/signals")
    yield Call("GET", f"/api/oracle/conversations/{context_id}")
    yield Call("DELETE", f"/api/oracle/conversations/{context_id}")
    yield Call("POST", "/api/oracle", {"question": "x", "context_id": context_id})
    yield Call("POST", "/api/oracle/stream", {"question": "x", "context_id": context_id})


async def sent(client: Client, call: Call) -> httpx2.Response:
    return await client.http.request(call.method, call.path, json=call.body)


def shape(response: httpx2.Response, *names: str) -> tuple[Any, ...]:
    """What a response tells, apart from the names that were asked for."""
    text = response.text
    for name in names:
        text = text.replace(name, "NAME")
    headers = {name: value for name, value in response.headers.items() if name not in ("date", "content-length")}
    return response.status_code, text, {name: value for name, value in headers.items() if "request-id" not in name}


async def assert_hidden(attacker: Client, run_id: str, context_id: str) -> None:
    nothing = uuid4().hex
    for theirs, never in zip(calls_naming(run_id, context_id), calls_naming(nothing, nothing), strict=True):
        seen, wanted = await sent(attacker, theirs), await sent(attacker, never)
        assert seen.status_code == 404, (theirs, seen.status_code)
        assert shape(seen, run_id, context_id) == shape(wanted, nothing), theirs


async def test_what_was_forgotten_is_hidden_from_everybody(alice: Client, bob: Client, guarded_desk: Desk) -> None:
    guarded_desk.play(answers(SECRET))
    heard = await alice.ask()
    context_id = heard.done["context_id"]
    assert (await alice.http.delete(f"/api/oracle/conversations/{context_id}")).status_code == 204
    await assert_hidden(bob, heard.run_id, context_id)


async def test_users_list_their_own_runs(alice: Client, bob: Client, guarded_desk: Desk) -> None:
    guarded_desk.play(answers(SECRET), answers("Mine."))
    of_alice, of_bob = await alice.ask("Is it xyzzy?"), await bob.ask()
    listed = await bob.http.get("/api/runs", params={"limit": 200})
    names = [run["run_id"] for run in listed.json()["runs"]]
    assert of_bob.run_id in names
    assert of_alice.run_id not in names
    assert "xyzzy" not in listed.text
    # No answer reveals the time of another user's run.
    foreign = await bob.http.get("/api/runs", params={"before": of_alice.run_id})
    unknown = await bob.http.get("/api/runs", params={"before": uuid4().hex})
    assert shape(foreign, of_alice.run_id)[0] == shape(unknown)[0]
    assert of_alice.run_id not in json.dumps([run["run_id"] for run in foreign.json().get("runs", [])])


async def test_operators_see_all_runs_and_no_conversations(alice: Client, operator: Client, guarded_desk: Desk) -> None:
    guarded_desk.play(answers(SECRET))
    heard = await alice.ask()
    assert (await operator.run(heard.run_id))["run_id"] == heard.run_id
    assert heard.run_id in (await operator.http.get("/api/runs", params={"limit": 200})).text
    for part in ("ticks", "signals"):
        assert (await operator.http.get(f"/api/runs/{heard.run_id}/{part}")).status_code == 200
    context_id = heard.done["context_id"]
    for call in list(calls_naming(heard.run_id, context_id))[-4:]:
        assert (await sent(operator, call)).status_code == 404
    assert await alice.kept_answer(context_id) == SECRET


async def test_settings_of_users_are_apart(alice: Client, bob: Client) -> None:
    path = "/api/settings/agent-config"
    try:
        assert (await alice.http.put(path, json={"max_iterations": 7})).status_code == 200
        assert (await bob.http.get(path)).json()["max_iterations"] == 15
        assert (await bob.http.post(f"{path}/reset")).status_code == 200
        assert (await alice.http.get(path)).json()["max_iterations"] == 7
        for name in ("alice", "../alice"):
            response = await bob.http.get(path, headers={"X-User": name})
            assert response.json()["max_iterations"] == 15
            refused = await bob.http.get(path, params={"user": name, "user_id": name})
            assert refused.status_code == 422
    finally:
        await alice.http.post(f"{path}/reset")


async def test_vaults_of_users_are_apart_whatever_path_the_model_asks_for(
    alice: Client, bob: Client, guarded_desk: Desk, guarded_server: Server
) -> None:
    guarded_desk.play(says("", calls("vault_write", path="plans/secret.md", body=SECRET)), answers("Written."))
    written = await alice.ask(ACTION_QUESTION)
    assert [result["is_error"] for result in written.of("tool_result")] == [False]
    (note,) = guarded_server.data.rglob("secret.md")
    inside = note.relative_to(guarded_server.data)
    attempts = [
        "plans/secret.md",
        "alice/plans/secret.md",
        "../alice/plans/secret.md",
        f"../../{inside}",
        str(note),
        "%2e%2e/alice/plans/secret.md",
        "..\\alice\\plans\\secret.md",
    ]
    readings = [calls("vault_read", path=path) for path in attempts] + [calls("thread_read", thread=attempts[2])]
    attack = says("", *readings, calls("vault_search", query="xyzzy"))
    guarded_desk.play(attack, answers("No."), attack, answers("No."))
    limits = {"max_tool_calls_per_turn": 20}
    streamed = await bob.ask(VAULT_QUESTION, limits=limits)
    whole = await bob.ask_whole(VAULT_QUESTION, limits=limits)
    assert len(streamed.of("tool_result")) == len(readings) + 1
    assert SECRET not in json.dumps([streamed.chunks, whole])
    assert SECRET not in json.dumps(guarded_desk.bodies)
    guarded_desk.play(says("", calls("vault_list"), calls("vault_list", folder="..")), answers("No."))
    listed = await bob.ask(VAULT_QUESTION)
    assert "secret.md" not in json.dumps(listed.chunks)
    guarded_desk.play(says("", calls("vault_read", path="plans/secret.md")), answers("Yes."))
    own = await alice.ask(VAULT_QUESTION)
    assert SECRET in own.of("tool_result")[0]["tool_result"]


LOOKALIKES = [
    "ALICE",
    "./alice",
    "../alice",
    "..",
    ".",
    "alice/",
    "%61lice",
    "alice.",
    "\uff41lice",
    "a" * 255,
    "CON",
    "*",
]


async def test_no_name_of_a_user_leads_into_the_vault_of_another(
    alice: Client, guarded_desk: Desk, guarded_server: Server, connect: Connect
) -> None:
    note = f"plans/{uuid4().hex}.md"
    guarded_desk.play(says("", calls("vault_write", path=note, body=SECRET)), answers("Written."))
    await alice.ask(ACTION_QUESTION)
    for name in LOOKALIKES:
        other = connect(guarded_server, bearer_of(name))
        guarded_desk.play(says("", calls("vault_read", path=note), calls("vault_list")), answers("No."))
        read = await other.ask(VAULT_QUESTION, limits={"max_parallel_tools": 1})
        assert len(read.of("tool_result")) == 2, name
        assert SECRET not in json.dumps(read.chunks), name
        assert note not in read.of("tool_result")[1]["tool_result"], name


async def test_a_user_called_local_is_no_operator_where_there_is_auth(
    alice: Client, guarded_desk: Desk, guarded_server: Server, connect: Connect
) -> None:
    guarded_desk.play(answers("Yes."))
    heard = await alice.ask()
    local = connect(guarded_server, bearer_of("local"))
    await assert_hidden(local, heard.run_id, heard.done["context_id"])
    assert (await local.http.get("/api/runs")).json()["runs"] == []


async def test_two_users_streams_at_once_do_not_mix(alice: Client, bob: Client, guarded_desk: Desk) -> None:
    async def ask_many(client: Client, name: str) -> None:
        for number in range(5):
            heard = await client.ask(f"What is {name} {number}?")
            assert (await client.conversation(heard.done["context_id"]))["messages"][0]["content"].startswith(
                f"What is {name}"
            )

    guarded_desk.play(*(answers("One answer for all.", piece_chars=3) for _ in range(10)))
    await asyncio.gather(ask_many(alice, "alice"), ask_many(bob, "bob"))
    asked = [json.dumps(body["messages"]) for body in guarded_desk.bodies]
    assert sum("alice" in text for text in asked) == sum("bob" in text for text in asked) == 5
    assert not any("alice" in text and "bob" in text for text in asked)


async def test_nothing_secret_is_logged(guarded_server: Server) -> None:
    logged = guarded_server.logged()
    for token in TOKENS.values():
        assert token not in logged
    assert SECRET not in logged
