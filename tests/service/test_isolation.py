"""Users of one service: their settings, vaults and streams are apart, and nothing secret is logged."""

import asyncio
import json
from uuid import uuid4

import pytest

from tests.acceptance.scripts import ACTION_QUESTION, VAULT_QUESTION, answers, calls, says
from tests.service.provider import Desk
from tests.service.server import Client, Connect, Server
from tests.service.users import TOKENS, bearer_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECRET = "the-word-is-xyzzy"


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
