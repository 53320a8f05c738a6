import asyncio

import pytest

from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, TIMESTAMP, TOKENS, in_shared_loop

PATH = "/api/oracle/conversations"
CALLS = ScriptedTurn(
    text="Let me look.",
    tool_calls=(ScriptedCall("read_file", {"path": "login.py"}), ScriptedCall("read_file", {"path": "nope.py"})),
)
AGAIN = ScriptedTurn(text='On. <signal type="need_turn"><reason>r</reason></signal>')


async def test_a_conversation_has_its_messages_with_the_notifications_in_their_place(start):
    service = await start([AGAIN])
    streamed = await service.ask("hello", limits={"max_iterations": 2}, project_id="shop")
    kept = (await service.client.get(f"/api/oracle/conversations/{streamed.done['context_id']}")).json()
    assert kept["context_id"] == streamed.done["context_id"]
    assert kept["project_id"] == "shop"
    assert [message["role"] for message in kept["messages"]] == ["user", "system", "system", "assistant"]
    began = (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()["created_at"]
    assert kept["messages"][0] == {
        "n": 1, "role": "user", "content": "hello", "at": began, "timestamp": began, "tool_calls": [],
        "run_id": streamed.run_id, "metadata": {"run_id": streamed.run_id},
    }  # fmt: skip
    notices = [chunk for chunk in streamed.chunks if chunk["type"] == "system"]
    assert [message["content"] for message in kept["messages"][1:3]] == [each["system_message"] for each in notices]
    fields = ("system_type", "system_message", "severity", "metadata", "timestamp")
    assert [{name: message[name] for name in fields} for message in kept["messages"][1:3]] == [
        {name: each[name] for name in fields} for each in notices
    ]
    assert kept["messages"][3]["content"] == streamed.text
    assert kept["messages"][3]["metadata"]["termination_reason"] == "max_iterations"


async def test_a_conversation_has_its_tool_calls_as_they_were_streamed(start, tmp_path):
    (tmp_path / "login.py").write_text("def log_in(user):\n    return user\n")
    service = await start([CALLS, ScriptedTurn(text="In login.py.")])
    streamed = await service.ask("Where in the code is the login function?")
    kept = (await service.client.get(f"/api/oracle/conversations/{streamed.done['context_id']}")).json()
    question, answer = kept["messages"]
    calls = [chunk["tool_call"] for chunk in streamed.chunks if chunk["type"] == "tool_call"]
    results = {chunk["tool_call_id"]: chunk for chunk in streamed.chunks if chunk["type"] == "tool_result"}
    fields = ("tool_result", "is_error", "duration_ms")
    assert answer["tool_calls"] == [
        call | {name: results[call["id"]][name] for name in fields} | {"timestamp": TIMESTAMP} for call in calls
    ]
    assert question["tool_calls"] == []
    assert answer["metadata"].keys() == {"run_id", "termination_reason", "sources"}


async def test_the_tool_calls_of_a_query_without_an_answer_stand_at_its_question(start):
    service = await start([ScriptedTurn(tool_calls=CALLS.tool_calls), ScriptedTurn(hang=True)])
    async with service.asking("Where in the code is the login function?") as streamed:
        while "tool_result" not in streamed.types:
            await streamed._more()
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()
    kept = (await service.client.get(f"/api/oracle/conversations/{streamed.done['context_id']}")).json()
    (question,) = kept["messages"]
    assert [call["name"] for call in question["tool_calls"]] == ["read_file", "read_file"]
    assert question["metadata"] == {"run_id": streamed.run_id}


async def test_a_list_has_ones_own_conversations_newest_first_with_titles_and_what_is_answered(start, database_url):
    service = await start([ScriptedTurn(text="Yes."), HANGS], tokens=TOKENS, url=database_url)
    first = await service.ask("What is\nthis? " + "x" * 200, headers=ALICE, project_id="shop")
    async with service.asking("And that?", headers=ALICE) as second:
        await second.until("here")
        told = (await service.client.get(PATH, headers=ALICE)).json()
        assert (await service.client.get(PATH, headers=BOB)).json() == {"conversations": [], "next": None}
        live = (await service.client.get(f"{PATH}/{told['conversations'][0]['context_id']}", headers=ALICE)).json()
        assert (live["live"]["run_id"], live["live"]["question"]) == (second.run_id, "And that?")
        assert (live["state"], live["messages"]) == ("answering", [])
        await service.client.post(f"/api/oracle/runs/{second.run_id}/cancel", headers=ALICE)
        await second.rest()
    assert told["next"] is None
    newest, oldest = told["conversations"]
    assert (newest["title"], newest["state"], newest["run_id"]) == ("And that?", "answering", second.run_id)
    assert (oldest["context_id"], oldest["project_id"]) == (first.done["context_id"], "shop")
    assert (oldest["state"], oldest["run_id"]) == ("idle", None)
    assert oldest["title"].startswith("What is this? xxx")
    assert len(oldest["title"]) <= 80
    after = (await service.client.get(PATH, headers=ALICE)).json()["conversations"][0]
    assert (after["state"], after["run_id"]) == ("idle", None)
    assert after["created_at"] <= after["updated_at"]


async def test_a_list_is_filtered_searched_and_read_in_pages(service):
    for number in range(5):
        await service.ask(f"Is it number {number}?", project_id=f"p{number % 2}")
    listed = (await service.client.get(PATH, params={"limit": 5})).json()
    titles = [each["title"] for each in listed["conversations"]]
    assert titles == [f"Is it number {number}?" for number in (4, 3, 2, 1, 0)]
    paged, before = [], {}
    while True:
        page = (await service.client.get(PATH, params={"limit": 2, **before})).json()
        paged += page["conversations"]
        if page["next"] is None:
            break
        before = {"before": page["next"]}
    assert paged == listed["conversations"]
    labelled = (await service.client.get(PATH, params={"project_id": "p1"})).json()["conversations"]
    assert [each["title"] for each in labelled] == [titles[1], titles[3]]
    found = (await service.client.get(PATH, params={"search": "NUMBER 3"})).json()["conversations"]
    assert [each["title"] for each in found] == ["Is it number 3?"]
    assert (await service.client.get(PATH, params={"search": "%"})).json()["conversations"] == []


@pytest.mark.parametrize("before", ["never-was", "a" * 65, "\0"])
async def test_a_page_behind_no_conversation_is_a_404(service, before):
    response = await service.client.get(PATH, params={"before": before})
    assert (response.status_code, response.json()) == (404, {"detail": "There is no such conversation."})


async def test_a_conversation_gets_another_title(service):
    context_id = (await service.ask()).done["context_id"]
    path = f"{PATH}/{context_id}"
    renamed = await service.client.patch(path, json={"title": "  About\n\u202elogins "})
    assert renamed.status_code == 200
    assert renamed.json()["title"] == "About logins"
    assert (await service.client.get(path)).json()["title"] == "About logins"
    assert (await service.client.get(PATH)).json()["conversations"] == [renamed.json()]
    await service.ask("And now?", context_id=context_id)
    assert (await service.client.get(path)).json()["title"] == "About logins"


@pytest.mark.parametrize(
    "body", [{}, {"title": ""}, {"title": " \u200b"}, {"title": "x" * 201}, {"title": 1}, {"name": "x"}]
)
async def test_a_title_that_is_none_is_refused(service, body):
    path = f"{PATH}/{(await service.ask()).done['context_id']}"
    assert (await service.client.patch(path, json=body)).status_code == 422
    assert (await service.client.get(path)).json()["title"] == "hello"


async def test_the_messages_of_a_long_conversation_come_in_pages_the_newest_first(service):
    body = {}
    for number in range(4):
        streamed = await service.ask(f"Q{number}", **body)
        body = {"context_id": streamed.done["context_id"]}
    path = f"{PATH}/{body['context_id']}"
    newest = (await service.client.get(path, params={"limit": 3})).json()
    assert [message["content"] for message in newest["messages"]] == ["Hello.", "Q3", "Hello."]
    earlier = (await service.client.get(path, params={"limit": 100, "before": newest["next"]})).json()
    assert [message["n"] for message in earlier["messages"] + newest["messages"]] == list(range(1, 9))
    assert earlier["next"] is None


async def test_a_question_that_races_a_delete_is_refused_or_answered_to_its_done(start, database_url):
    service = await start(url=database_url)
    for _ in range(3):
        context_id = (await service.ask()).done["context_id"]
        path = f"/api/oracle/conversations/{context_id}"
        asked = [service.ask(context_id=context_id) for _ in range(3)]
        first, deleted, *others = await asyncio.gather(asked[0], service.client.delete(path), *asked[1:])
        assert deleted.status_code == 204
        for streamed in (first, *others):
            assert streamed.status in (404, 409) or streamed.done["context_id"] == context_id
        assert (await service.client.get(path)).status_code == 404


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
@pytest.mark.parametrize("context_id", ["never-was", "a" * 65, "%00", "%ff", "a%0ab"])
@in_shared_loop
async def test_a_conversation_that_is_not_there_is_a_404(shared, method, context_id):
    body = {"json": {"title": "x"}} if method == "PATCH" else {}
    response = await shared.client.request(method, f"{PATH}/{context_id}", **body)
    assert (response.status_code, response.json()) == (404, {"detail": "There is no such conversation."})
