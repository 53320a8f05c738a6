"""Conversations that go on otherwise from a question: the old one stays, and the new one is like any other."""

import pytest

from oracle.server.api.replies import ConversationHead
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.server.api.conftest import HANGS

PATH = "/api/oracle/conversations"


async def fork(service, context_id, **body):
    response = await service.client.post(f"{PATH}/{context_id}/fork", json=body)
    assert response.status_code == 201, response.text
    assert ConversationHead.model_validate(response.json()).model_dump(mode="json") == response.json()
    return response.json()


async def texts(service, context_id):
    body = (await service.client.get(f"{PATH}/{context_id}")).json()
    return [message["content"] for message in body["messages"]]


@pytest.fixture
async def talk(start, database_url):
    """Three questions of one conversation."""
    turns = [ScriptedTurn(text=text) for text in ("One.", "Two.", "Three.", "Other.")]
    service = await start(turns, url=database_url)
    first = await service.ask("first?", project_id="shop")
    context = first.done["context_id"]
    asked = [first] + [await service.ask(text, context_id=context) for text in ("second?", "third?")]
    await service.client.patch(f"{PATH}/{context}", json={"title": "My talk"})
    return service, context, [each.run_id for each in asked]


async def test_an_edited_question_is_asked_anew_beside_the_old_one(talk):
    service, context, runs = talk
    forked = await fork(service, context, before_run=runs[1])
    assert (forked["title"], forked["project_id"], forked["state"]) == ("My talk", "shop", "idle")
    assert await texts(service, forked["context_id"]) == ["first?", "One."]
    await service.ask("better second?", context_id=forked["context_id"])
    assert await texts(service, forked["context_id"]) == ["first?", "One.", "better second?", "Other."]
    assert service.model.requests[-1].messages[0]["content"] == "first?"
    assert await texts(service, context) == ["first?", "One.", "second?", "Two.", "third?", "Three."]
    listed = (await service.client.get(PATH)).json()["conversations"]
    assert [each["context_id"] for each in listed] == [forked["context_id"], context]


async def test_a_whole_conversation_is_copied_without_a_run(talk):
    service, context, _ = talk
    forked = await fork(service, context)
    assert await texts(service, forked["context_id"]) == await texts(service, context)


async def test_before_the_first_question_nothing_is_left_and_the_new_one_gives_the_title(talk):
    service, context, runs = talk
    forked = await fork(service, context, before_run=runs[0])
    assert (await texts(service, forked["context_id"]), forked["title"]) == ([], "")
    await service.ask("better first?", context_id=forked["context_id"])
    assert (await service.client.get(f"{PATH}/{forked['context_id']}")).json()["title"] == "better first?"


async def test_of_a_conversation_without_messages_the_new_one_has_no_title(start):
    service = await start([HANGS])
    async with service.asking("first?") as streamed:
        await streamed.until("It begins")
        (listed,) = (await service.client.get(PATH)).json()["conversations"]
        for body in ({}, {"before_run": streamed.run_id}):
            assert (await fork(service, listed["context_id"], **body))["title"] == ""
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()


async def test_either_is_forgotten_without_the_other(talk):
    service, context, runs = talk
    one, other = [(await fork(service, context, before_run=runs[1]))["context_id"] for _ in range(2)]
    assert (await service.client.delete(f"{PATH}/{one}")).status_code == 204
    assert (await service.client.get(f"{PATH}/{one}")).status_code == 404
    assert len(await texts(service, context)) == 6
    assert (await service.client.get(f"/api/oracle/runs/{runs[0]}")).json()["kept"] == "whole"
    assert (await service.client.delete(f"{PATH}/{context}")).status_code == 204
    assert await texts(service, other) == ["first?", "One."]


async def test_a_question_under_way_is_asked_anew_in_another_conversation(start):
    service = await start([ScriptedTurn(text="One."), HANGS])
    first = await service.ask("first?")
    async with service.asking("second?", context_id=first.done["context_id"]) as streamed:
        await streamed.until("It begins")
        forked = await fork(service, first.done["context_id"], before_run=streamed.run_id)
        assert await texts(service, forked["context_id"]) == ["first?", "One."]
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()


async def test_what_the_old_question_inherited_the_new_one_inherits(start):
    turns = [
        ScriptedTurn(tool_calls=(ScriptedCall("read_file", {"path": "nope.py"}),)),
        *(ScriptedTurn(text=text) for text in ("No.", "Two.", "Three.", "Again.")),
    ]
    service = await start(turns)
    first = await service.ask("Where in the code is the login function?")
    context = first.done["context_id"]
    second = await service.ask("And the other one?", context_id=context)
    await service.ask("What is the weather in Berlin today?", context_id=context)
    forked = await fork(service, context, before_run=second.run_id)
    again = await service.ask("And the other one?", context_id=forked["context_id"])
    kinds = [await written(service, each.run_id, "query_type") for each in (second, again)]
    assert kinds == ["code", "code"]


async def written(service, run_id, key):
    """The first value of a blackboard key in a run."""
    ticks = (await service.client.get(f"/api/runs/{run_id}/ticks")).json()["ticks"]
    return next(value for tick in ticks for name, value in tick["writes"] if name == key)


@pytest.mark.parametrize("run", ["nope", "0123456789abcdef0123456789abcdef", "\u00e9"])
async def test_a_run_of_no_question_of_the_conversation_is_refused(start, run):
    service = await start()
    streamed, other = await service.ask(), await service.ask()
    for before_run in (run, other.run_id):
        path = f"{PATH}/{streamed.done['context_id']}/fork"
        response = await service.client.post(path, json={"before_run": before_run})
        assert (response.status_code, response.json()["detail"]) == (404, "There is no such conversation.")
