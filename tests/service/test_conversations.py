"""Conversations over HTTP: they go on, stay well-formed, can be fetched and forgotten (decisions 8, 24; 012 US5-2)."""

import asyncio
from typing import Any

import pytest

from tests.acceptance.scripts import CHAT, answers, hangs, says, text_of, text_of_request
from tests.service.provider import Desk
from tests.service.scenarios import searching
from tests.service.server import Client, Server, under_both
from tests.support.provider import Disturbed

pytestmark = pytest.mark.asyncio(loop_scope="session")


@under_both
async def test_012_us5_2_system_messages_are_in_the_conversation_and_never_in_the_history(
    client: Client, desk: Desk
) -> None:
    desk.play(*searching(4), answers("Good."), answers("Fine."))
    first = await client.ask(limits={"max_iterations": 4})
    second = await client.ask("And where is log_in?", context_id=first.done["context_id"])
    kept = (await client.conversation(first.done["context_id"]))["messages"]
    system = [message for message in kept if message["role"] == "system"]
    assert [message["content"] for message in system] == first.messages
    assert [message["system_type"] for message in system] == ["limit_warning", "limit_reached"]
    assert [message["role"] for message in kept] == ["user", "system", "system", "assistant", "user", "assistant"]
    assert second.answer == "Good."
    (body,) = desk.bodies[4:]
    assert "Approaching" not in text_of_request(body)
    assert "Maximum iterations" not in text_of_request(body)
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]


async def test_after_any_end_the_history_is_one_that_the_provider_accepts(client: Client, desk: Desk) -> None:
    context_id = None
    turns = [
        hangs(says("Half")),
        hangs(says("", thinking="Hm.")),
        Disturbed(says(""), "early_end"),
        says("No.", stop_reason="refusal"),
        answers(" \n"),
        answers("Well."),
    ]
    for turn in turns:
        desk.play(turn)
        body = {} if context_id is None else {"context_id": context_id}
        async with client.stream(**body) as stream:
            if getattr(turn, "how", "") == "hang":
                await desk.wait_request()
                await client.cancel(stream.run_id)
            await stream.rest()
        context_id = stream.done["context_id"]
        assert [request.complaint for request in desk.requests if request.complaint] == []
    assert stream.answer == "Well."


def said_in(body: dict[str, Any]) -> list[str]:
    """The texts of a request, without the notes of the control."""
    return [text_of(message) for message in body["messages"] if message["role"] != "system"]


async def test_decision_26_a_long_conversation_fits_half_the_budget_and_model_and_user_are_told(
    client: Client, desk: Desk
) -> None:
    """Questions of 6 000 characters, of which a history of 5 000 tokens holds three."""
    limits = {"token_budget": 10_000}
    desk.play(*(answers(f"Answer {number}.") for number in range(8)))
    body: dict[str, str] = {}
    told = []
    for number in range(8):
        question = f"Where is number {number} defined in the code? ".ljust(6_000, "x")
        heard = await client.ask(question, limits=limits, **body)
        body = {"context_id": heard.done["context_id"]}
        told.append([notice["metadata"].get("omitted_messages", 0) for notice in heard.of("system")])
        assert heard.answer == f"Answer {number}."
        for notice in heard.of("system"):
            assert (notice["system_type"], notice["severity"]) == ("limit_warning", "info")
    assert told == [[], [], [], [], [2], [4], [6], [8]]
    for number, sent in enumerate(desk.bodies):
        texts = said_in(sent)
        assert sum(len(text) for text in texts[:-1]) <= 4 * 5_000 + 500  # with the sentence that says what is missing
        assert texts[-1].startswith(f"Where is number {number} ")
        assert texts[-3:-2] == [] or f"Where is number {number - 1} " in texts[-3]
    kept = (await client.conversation(body["context_id"]))["messages"]
    assert [message["content"][:20] for message in kept if message["role"] == "user"] == [
        f"Where is number {number} de" for number in range(8)
    ]


async def test_decision_26_an_exchange_that_is_too_long_alone_is_shortened_in_its_middle(
    client: Client, desk: Desk
) -> None:
    desk.play(answers("b" * 9_000), answers("Yes."))
    first = await client.ask("Where is it? " + "a" * 12_000)
    second = await client.ask("And now?", context_id=first.done["context_id"], limits={"token_budget": 2_000})
    sent = said_in(desk.bodies[1])
    assert len(sent) == 3
    assert sum(len(text) for text in sent[:2]) < 4 * 1_000 + 500
    assert "Where is it? aaaa" in sent[0]
    assert sent[1].startswith("bbbb")
    assert len(second.of("system")) == 1


async def test_decision_29_with_done_the_conversation_is_free_and_the_run_is_finished(
    client: Client, desk: Desk
) -> None:
    desk.play(*(answers(f"Answer {number}.") for number in range(20)))
    body: dict[str, str] = {}
    for number in range(20):
        async with client.stream(**body) as stream:
            await stream.until_done()
            body = {"context_id": stream.done["context_id"]}
            assert await client.kept_answer(stream.done["context_id"]) == f"Answer {number}."
            assert (await client.run(stream.run_id))["status"] == "finished"


async def test_decision_29_of_many_queries_in_one_conversation_at_once_one_is_answered(
    client: Client, desk: Desk
) -> None:
    desk.play(answers("First."), hangs(says("Half")))
    context_id = (await client.ask()).done["context_id"]
    body = {"question": "Now?", "context_id": context_id}
    asking = [asyncio.create_task(client.http.post("/api/oracle", json=body)) for _ in range(8)]
    await desk.wait_request(2)
    (newest,) = (await client.http.get("/api/runs", params={"limit": 1})).json()["runs"]
    finished, running = await _all_but_one(asking)
    assert [response.status_code for response in finished] == [409] * 7
    await client.cancel(newest["run_id"])
    assert (await running).json()["termination_reason"] == "user_cancelled"


async def _all_but_one(tasks: list[asyncio.Task]) -> tuple[list, asyncio.Task]:
    pending = set(tasks)
    while len(pending) > 1:
        _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED, timeout=20)
    return [task.result() for task in tasks if task.done()], pending.pop()


async def test_decision_30_a_conversation_that_is_forgotten_leaves_no_text_behind(
    client: Client, desk: Desk, local_server: Server
) -> None:
    desk.play(answers("The xyzzy answer."), answers("The plugh answer."))
    first = await client.ask("Is it xyzzy?")
    context_id = first.done["context_id"]
    await client.ask("Is it plugh?", context_id=context_id)
    assert any(b"xyzzy" in path.read_bytes() for path in local_server.data.rglob("oracle.db*"))
    path = f"/api/oracle/conversations/{context_id}"
    deleted = await client.http.delete(path)
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (await client.http.get(path)).status_code == 404
    assert (await client.http.delete(path)).status_code == 404
    assert (await client.http.post("/api/oracle", json={"question": "x", "context_id": context_id})).status_code == 404
    run = await client.http.get(f"/api/oracle/runs/{first.run_id}")
    assert "xyzzy" not in run.text
    for part in ("ticks", "signals"):
        assert "xyzzy" not in (await client.http.get(f"/api/runs/{first.run_id}/{part}")).text
    async with client.http.stream("GET", f"/api/oracle/runs/{first.run_id}/stream") as response:
        read = await response.aread()
    assert b"xyzzy" not in read
    assert "xyzzy" not in (await client.http.get("/api/runs")).text
    files = [path for path in local_server.data.rglob("*") if path.is_file()]
    assert any("oracle.db" in path.name for path in files)
    assert [path.name for path in files if b"xyzzy" in path.read_bytes()] == []
    assert "xyzzy" not in local_server.logged()


async def test_decision_30_forgetting_a_conversation_ends_the_query_that_it_is_answering(
    client: Client, desk: Desk
) -> None:
    desk.play(answers("First."), hangs(says("Half")))
    context_id = (await client.ask(CHAT)).done["context_id"]
    async with client.stream(CHAT, context_id=context_id) as stream:
        await stream.until_content("Half")
        response = await client.http.delete(f"/api/oracle/conversations/{context_id}")
        assert response.status_code == 204
        await desk.wait_disconnected(2)
        async with asyncio.timeout(20):
            await stream.rest()
    assert stream.reason == "user_cancelled"
    ended = await client.run(stream.run_id)
    assert (ended["status"], ended["termination_reason"], ended["forgotten"]) == ("finished", "user_cancelled", True)
    assert (await client.http.get(f"/api/oracle/conversations/{context_id}")).status_code == 404
