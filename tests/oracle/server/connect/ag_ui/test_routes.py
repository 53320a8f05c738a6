"""`/agui` over HTTP: questions, interrupts, tools of the client, threads that are read again, and bad input."""

import json
import time
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import update

from bt_runtime.text import iso
from oracle.runs.storage.interrupts import interrupt
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.runs.storage.making import latest
from tests.oracle.server.api.asking import write_trees
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, TOKENS, Service, in_shared_loop
from tests.oracle.server.connect.ag_ui.test_events import check

PLACE = {"name": "get_place", "description": "Where the user is.", "parameters": {"type": "object", "properties": {}}}
NUMBERED = [ScriptedTurn(text=f"Answer {n}.") for n in range(1, 9)]
WRITES = [
    ScriptedTurn(
        text="I write. ",
        tool_calls=(
            ScriptedCall("vault_write", {"path": "a.md", "body": "One."}),
            ScriptedCall("vault_write", {"path": "b.md", "body": "Two."}),
        ),
    ),
    ScriptedTurn(text="Done."),
]


@dataclass(slots=True)
class Thread:
    """A client that does what `HttpAgent` does with its messages."""

    service: Service
    name: str = "thread-1"
    messages: list[dict[str, Any]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    runs: int = 0

    async def post(self, **body: Any) -> Any:
        self.runs += 1
        given = {
            "threadId": self.name,
            "runId": f"run-{self.runs}",
            "messages": self.messages,
            "tools": [],
            "context": [],
        }
        return await self.service.client.post("/agui", json={**given, **body}, headers=self.headers)

    async def run(self, **body: Any) -> list[dict[str, Any]]:
        response = await self.post(**body)
        assert response.status_code == 200, response.text
        events = read(response.text)
        check(events)
        return events

    async def ask(self, text: str, **body: Any) -> list[dict[str, Any]]:
        self.messages.append({"id": f"m-{len(self.messages)}", "role": "user", "content": text})
        events = await self.run(**body)
        self.messages.append({"id": f"m-{len(self.messages)}", "role": "assistant", "content": text_of(events)})
        return events

    async def replayed(self) -> list[list[dict[str, Any]]]:
        """The runs of the thread."""
        response = await self.service.client.get(f"/agui/threads/{self.name}", headers=self.headers)
        assert response.status_code == 200, response.text
        events = read(response.text)
        starts = [at for at, event in enumerate(events) if event["type"] == "RUN_STARTED"]
        runs = [events[at:end] for at, end in zip(starts, [*starts[1:], len(events)], strict=True)]
        for each in runs:
            check(each)
        return runs


def read(text: str) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


def text_of(events: list[dict[str, Any]]) -> str:
    mine = {event["messageId"] for event in events if event.get("role") == "assistant"}
    return "".join(event["delta"] for event in events if "delta" in event and event.get("messageId") in mine)


def of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]


@pytest.fixture
def thread(start, tmp_path):
    async def begin(turns: Any = (), **options: Any) -> Thread:
        write_trees(tmp_path)
        options.setdefault("timestamp", lambda: iso(time.time()))
        return Thread(await start(turns, **options))

    return begin


async def test_a_thread_is_a_conversation_that_begins_each_run_with_what_is_known_of_it(thread):
    client = await thread(NUMBERED)
    first = await client.ask("one?")
    assert first[0] == {"type": "RUN_STARTED", "threadId": "thread-1", "runId": "run-1", "protocolVersion": "1.0"}
    assert first[1]["messages"] == [{"id": "m-0", "role": "user", "content": "one?"}]
    assert first[2]["type"] == "STATE_SNAPSHOT"
    assert text_of(first) == "Answer 1."
    assert first[-1]["outcome"] == {"type": "success"}
    second = await client.ask("two?", state={"mine": 1})
    assert not of(second, "MESSAGES_SNAPSHOT"), "the client shows that it has it"
    assert not of(second, "STATE_SNAPSHOT"), "a state of the client's own stays"
    runs = await client.replayed()
    assert [text_of(each) for each in runs] == ["Answer 1.", "Answer 2."]
    assert [of(each, "TEXT_MESSAGE_CONTENT")[0]["delta"] for each in runs] == ["one?", "two?"]
    client.messages = []
    reloaded = await client.ask("three?")
    assert [message["content"] for message in reloaded[1]["messages"]] == [
        *("one?", "Answer 1.", "two?", "Answer 2."),
        "three?",
    ]


async def test_changed_arguments_are_what_is_run(thread, tmp_path):
    client = await thread(WRITES)
    first, second = (await client.ask("hello", forwardedProps={"tree": "approval"}))[-1]["outcome"]["interrupts"]
    edited = {"approved": True, "arguments": {"path": "c.md", "body": "Three."}}
    await client.run(
        resume=[
            {"interruptId": first["id"], "status": "resolved", "payload": edited},
            {"interruptId": second["id"], "status": "resolved", "payload": False},
        ]
    )
    assert (tmp_path / "vault" / "c.md").exists()
    assert not (tmp_path / "vault" / "a.md").exists()


async def test_all_or_nothing_and_what_has_expired_can_only_be_cancelled(thread):
    client = await thread(WRITES)
    store = client.service.parts.store
    first, second = (await client.ask("hello", forwardedProps={"tree": "approval"}))[-1]["outcome"]["interrupts"]
    past = update(interrupt).where(interrupt.c.id == second["id"]).values(expires_at=1.0)
    await store.write(lambda connection: connection.execute(past))
    approve = [{"interruptId": each["id"], "status": "resolved", "payload": True} for each in (first, second)]
    refused = await client.post(resume=approve)
    assert refused.status_code == 410
    assert "expired" in refused.json()["message"]
    kept = await store.interrupts.of_run(first["id"].rpartition(".")[0])
    assert kept[first["id"]].answered_by is None, "nothing of it counts"
    await store.interrupts.expire()
    rest = await client.run(resume=[approve[0], {"interruptId": second["id"], "status": "cancelled"}])
    assert text_of(rest).strip() == "Done."


async def test_a_question_gets_its_answer(thread):
    client = await thread(NUMBERED)
    (asked,) = (await client.ask("Which?", forwardedProps={"tree": "question"}))[-1]["outcome"]["interrupts"]
    assert asked["responseSchema"] == {"type": "string", "enum": ["main", "release"]}
    entry = {"interruptId": asked["id"], "status": "resolved", "payload": "trunk"}
    assert (await client.post(resume=[entry])).status_code == 422
    assert text_of(await client.run(resume=[{**entry, "payload": "main"}])) == "It is main."


async def test_another_question_in_the_place_of_an_answer_ends_what_waited(thread):
    client = await thread(WRITES)
    asked = (await client.ask("hello", forwardedProps={"tree": "approval"}))[-1]["outcome"]["interrupts"]
    client.messages.append({"id": "m-9", "role": "user", "content": "Never mind. Hello?"})
    assert (await client.post()).status_code == 409, "it waits"
    cancelled = [{"interruptId": each["id"], "status": "cancelled"} for each in asked]
    assert (await client.post(resume=cancelled, tools=[{"name": "search_code "}])).status_code == 422
    assert (await client.service.parts.store.runs.find(asked[0]["id"].rpartition(".")[0])).status == "parked"
    rest = await client.run(resume=cancelled)
    assert text_of(rest).strip() == "Done."
    runs = await client.replayed()
    assert [each[-1]["outcome"]["type"] for each in runs] == ["cancelled", "success"]


async def test_a_tool_of_the_client_is_left_open_and_its_result_comes_as_a_message(thread):
    turns = [
        ScriptedTurn(
            text="I look. ", tool_calls=(ScriptedCall("get_place", {}), ScriptedCall("list_files", {"path": "."}))
        ),
        ScriptedTurn(text="In Bern."),
    ]
    client = await thread(turns)
    events = await client.ask("Where am I?", tools=[PLACE])
    (pending,) = events[-1]["outcome"]["pendingToolCallIds"]
    assert pending == of(events, "TOOL_CALL_START")[0]["toolCallId"]
    client.messages.append({"id": "t-1", "role": "tool", "toolCallId": pending, "content": "Bern"})
    rest = await client.run(tools=[PLACE])
    assert text_of(rest).strip() == "In Bern."
    assert pending not in [event["toolCallId"] for event in of(rest, "TOOL_CALL_RESULT")]
    assert text_of(await client.run(tools=[PLACE])).strip() == "In Bern.", "the same twice"
    (whole,) = await client.replayed()
    results = {event["toolCallId"]: event["content"] for event in of(whole, "TOOL_CALL_RESULT")}
    assert results[pending] == "Bern"


async def test_a_running_answer_is_stopped_and_a_closed_connection_stops_nothing(thread):
    client = await thread([HANGS])
    body = {"threadId": "thread-1", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "hello"}]}
    async with client.service.client.stream("POST", "/agui", json=body) as response:
        async for line in response.aiter_lines():
            if "here" in line:
                break
    run = (await latest(client.service.parts.store, user_id=None, limit=1))[0]
    assert run.status == "running"
    stopped = await client.service.client.post("/agui/threads/thread-1/cancel")
    assert (stopped.status_code, stopped.json()["run_id"]) == (202, run.id)
    (whole,) = await client.replayed()
    assert whole[-1]["outcome"] == {"type": "cancelled"}
    assert text_of(whole).startswith("It begins here ")


async def test_a_thread_may_have_any_name(thread):
    client = await thread(NUMBERED)
    client.name = "a/b c"
    await client.ask("first?")
    path = "/agui/threads/a%2Fb%20c"
    assert "Answer 1." in (await client.service.client.get(path)).text
    assert (await client.service.client.post(f"{path}/cancel")).status_code == 202


async def test_threads_of_one_user_do_not_exist_for_another(thread):
    client = await thread(WRITES, tokens=TOKENS)
    client.headers = ALICE
    asked = (await client.ask("hello", forwardedProps={"tree": "approval"}))[-1]["outcome"]["interrupts"]
    other = Thread(client.service, headers=BOB)
    for path, method in (("/agui/threads/thread-1", "GET"), ("/agui/threads/thread-1/cancel", "POST")):
        response = await client.service.client.request(method, path, headers=BOB)
        assert response.status_code == 404
        assert response.json()["code"] == 404
    resume = [{"interruptId": each["id"], "status": "resolved", "payload": True} for each in asked]
    assert (await other.post(resume=resume)).status_code == 404
    assert (await client.service.client.post("/agui", json={})).status_code == 401
    own = await other.ask("hello", forwardedProps={"tree": "approval"})
    assert own[0]["threadId"] == "thread-1"
    assert [message["content"] for message in own[1]["messages"]] == ["hello"]


MESSAGE = {"id": "1", "role": "user", "content": "hello"}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"messages": []}, "the last message must be the user's"),
        ({"messages": [{**MESSAGE, "role": "assistant"}]}, "the last message must be the user's"),
        ({"messages": [{**MESSAGE, "role": 7}]}, "messages.0.role"),
        ({"messages": [{**MESSAGE, "content": None}]}, ""),
        ({"messages": [{**MESSAGE, "content": "x" * 20_001}]}, "20,001 characters"),
        (
            {"messages": [{**MESSAGE, "content": [{"type": "image", "source": {}}]}]},
            "other URLs and file ids are not accepted",
        ),
        ({"messages": [{"role": "tool", "toolCallId": "x", "content": "y"}]}, "There is no such conversation"),
        ({"messages": None}, "messages"),
        ({"threadId": ""}, "threadId"),
        ({"threadId": "x" * 1_001}, "threadId"),
        ({"runId": None}, "runId"),
        ({"tools": [{"name": "a b"}]}, "is no name of a tool"),
        ({"tools": [{"name": "search_code"}]}, "is the name of a tool of this service"),
        ({"tools": [{"name": "a", "parameters": {"type": "string"}}]}, "that of an object"),
        ({"tools": "all"}, "tools"),
        ({"resume": [{"interruptId": "x", "status": "resolved"}]}, "There is no such run"),
        ({"resume": [{"interruptId": "x.1", "status": "maybe"}]}, "status"),
        ({"forwardedProps": {"tree": "nowhere"}}, "nowhere"),
        ({"forwardedProps": {"model": " "}}, "may not be used"),
    ],
)
@in_shared_loop
async def test_bad_input_is_refused_in_one_form(shared, body, problem):
    response = await Thread(shared).post(**({"messages": [MESSAGE]} | body))
    assert response.status_code in (404, 422), response.text
    assert response.json().keys() == {"message", "code", "where"}
    assert problem in response.json()["message"]


async def test_long_histories_in_any_order_are_read(thread):
    client = await thread(NUMBERED)
    roles = ["assistant", "user", "system", "developer", "tool", "activity", "reasoning", "what"]
    client.messages = [
        {
            "id": str(n),
            "role": roles[n % 8],
            "content": [None, "", "x" * 400, [{"type": "text", "text": "y"}], 7][n % 5],
        }
        for n in range(10_000)
    ]
    assert text_of(await client.ask("and now?")) == "Answer 1."
