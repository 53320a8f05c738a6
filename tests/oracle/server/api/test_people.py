"""What runs ask people, over HTTP."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bt_runtime.text import iso
from oracle.core.chunks import Interrupt
from oracle.server.api.people import LARGEST_BYTES
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.server.api.asking import write_trees
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, OLGA, OPERATOR, TOKENS, Service

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def interrupt(name: str = "i1", **more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "reason": "tool_call",
        "message": "May I write?",
        "may": ("approve", "refuse", "edit"),
        "response_schema": PATH,
        "on_expiry": "refuse",
        "tool_name": "vault_write",
        "arguments": {"path": "a.md"},
    }
    return Interrupt(id=name, **(fields | more)).to_wire()


@asynccontextmanager
async def asking(service: Service, *interrupts: dict[str, Any], headers: Any = None) -> AsyncIterator[str]:
    """A run under way that has asked these."""
    async with service.asking(headers=headers) as streamed:
        await streamed.until("here ")
        run = await service.parts.store.runs.find(streamed.run_id)
        assert run is not None
        for each in interrupts:
            await service.parts.store.write(service.parts.store.interrupts.noting(run, each))
        yield run.id


async def answer(service: Service, run_id: str, body: Any, headers: Any = ALICE) -> Any:
    return await service.client.post(f"/api/oracle/runs/{run_id}/deliveries", json=body, headers=headers)


async def pending(service: Service, headers: Any = None, **params: Any) -> Any:
    return (await service.client.get("/api/oracle/pending", params=params, headers=headers)).json()


@pytest.fixture
async def guarded_asking(start):
    """One whose runs go on until they are cancelled, with users alice and bob, and the operator olga."""
    return await start([HANGS], tokens=TOKENS | OPERATOR, operators=("olga",))


async def test_an_answer_is_given_once_and_a_repeat_has_the_same_result(guarded_asking):
    service = guarded_asking
    async with asking(service, interrupt(), headers=ALICE) as run_id:
        [waiting] = (await pending(service, ALICE))["pending"]
        assert (waiting["run_id"], waiting["may_answer"]) == (run_id, True)
        assert (waiting["question"], waiting["tree"]) == ("hello", "oracle")
        assert waiting["interrupt"].items() >= {**interrupt(), "may": ["approve", "refuse", "edit"]}.items()
        body = {"id": "i1", "decision": "edit", "arguments": {"path": "b.md"}, "comment": "There."}
        first = await answer(service, run_id, body)
        assert first.status_code == 200
        [now] = first.json()["interrupts"]
        assert (now["status"], now["answered_by"], now["arguments"]) == ("edited", "alice", {"path": "a.md"})
        for same in ([body], {"deliveries": [body]}):
            again = await answer(service, run_id, same)
            assert (again.status_code, again.content) == (200, first.content)
        other = await answer(service, run_id, {"id": "i1", "decision": "refuse"})
        assert other.status_code == 409
        assert other.json()["detail"] == f"'i1' was edited by alice at {now['answered_at']}"
        assert (await pending(service, ALICE))["pending"] == []


async def test_only_those_answer_who_may(guarded_asking):
    service = guarded_asking
    ones = (interrupt(), interrupt("i2", answerers="not_asker"), interrupt("i3", answerers="operator"))
    async with asking(service, *ones, headers=ALICE) as run_id:
        assert (await answer(service, run_id, {"id": "i2", "decision": "approve"}, BOB)).status_code == 404
        assert (await answer(service, run_id, {"id": "i2", "decision": "approve"})).status_code == 403
        refused = await answer(service, run_id, [{"id": n, "decision": "approve"} for n in ("i3", "i1")], OLGA)
        assert (refused.status_code, refused.json()["detail"]) == (403, "'i1' is to be answered by the user who asked")
        assert (await pending(service, BOB))["pending"] == []
        assert [each["may_answer"] for each in (await pending(service, OLGA))["pending"]] == [False, True, True]
        both = await answer(service, run_id, [{"id": n, "decision": "approve"} for n in ("i3", "i2")], OLGA)
        assert [each["status"] for each in both.json()["interrupts"]] == ["approved", "approved"]


@pytest.mark.parametrize("answerers", ["operator", "not_asker"])
async def test_what_others_must_approve_is_not_allowed_for_the_conversation(guarded_asking, answerers):
    """The grant would be the user's, who could use it where nobody else is asked any more."""
    service = guarded_asking
    async with asking(service, interrupt(answerers=answerers), headers=ALICE) as run_id:
        refused = await answer(service, run_id, {"id": "i1", "decision": "approve", "for": "conversation"}, OLGA)
        assert (refused.status_code, refused.json()["detail"][0]["loc"]) == (422, ["body", 0, "for"])
        assert (await service.client.get("/api/oracle/grants", headers=ALICE)).json() == {"grants": []}


async def test_what_has_expired_or_is_forgotten_is_gone(guarded_asking):
    service = guarded_asking
    async with asking(service, interrupt(expires_at="2020-01-01T00:00:00Z"), interrupt("i2"), headers=ALICE) as run_id:
        late = await answer(service, run_id, {"id": "i1", "decision": "approve"})
        assert (late.status_code, "expired" in late.json()["detail"]) == (410, True)
    run = await service.parts.store.runs.find(run_id)
    await service.parts.runs.forget("alice", run.context_id)
    for name in ("i1", "i2", "none"):
        gone = await answer(service, run_id, {"id": name, "decision": "approve"})
        assert gone.status_code == 410
    assert (await pending(service, ALICE))["pending"] == []


async def test_pages_follow_each_other(start):
    service = await start([HANGS])
    async with asking(service, *(interrupt(f"i/{n}") for n in range(5))) as run_id:
        seen, after = [], None
        for _ in range(3):
            page = await pending(service, limit=2, **({} if after is None else {"after": after}))
            seen += [each["interrupt"]["id"] for each in page["pending"]]
            after = page["next"]
        assert (sorted(seen), after) == ([f"i/{n}" for n in range(5)], None)
        assert (await pending(service, after="none/none"))["pending"] == []
        assert run_id


async def test_grants_are_listed_and_withdrawn(guarded_asking):
    service = guarded_asking
    async with asking(service, interrupt(), headers=ALICE) as run_id:
        await answer(service, run_id, {"id": "i1", "decision": "approve", "for": "conversation"})
        [grant] = (await service.client.get("/api/oracle/grants", headers=ALICE)).json()["grants"]
        assert (grant["action"], grant["by"]) == ("vault_write", "alice")
        path = f"/api/oracle/grants/{grant['id']}"
        assert (await service.client.delete(path, headers=BOB)).status_code == 404
        assert (await service.client.get("/api/oracle/grants", headers=BOB)).json() == {"grants": []}
        assert (await service.client.delete(path, headers=ALICE)).status_code == 204
        assert (await service.client.delete(path, headers=ALICE)).status_code == 404
        assert (await service.client.get("/api/oracle/grants", headers=ALICE)).json() == {"grants": []}


def nest(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


OK = {"id": "i1", "decision": "approve"}
EDIT = {"id": "i1", "decision": "edit"}


@pytest.mark.parametrize(
    ("body", "place", "message"),
    [
        ({"id": "none", "decision": "approve"}, [0, "id"], "asked nothing of this id"),
        ({"id": "i\0", "decision": "approve"}, [0, "id"], "NUL"),
        ({"id": "i1\ud800", "decision": "approve"}, [0, "id"], "surrogate"),
        ({"id": 1, "decision": "approve"}, [0, "id"], "valid string"),
        ({"id": "x" * 300, "decision": "approve"}, [0, "id"], "at most 255"),
        ({"decision": "approve"}, [0, "id"], "required"),
        ([], [], "at least 1 item"),
        ("approve", [], "valid list"),
        (None, [], ""),  # FastAPI's words for it differ between versions
        ([OK, OK], [], "answered once"),
        ([OK, 5], [1], "valid dictionary"),
        ([OK] * 10_000, [], "at most 100 answers at once, given 10000"),
        ({**OK, "decision": "withdraw"}, [0, "decision"], "'approve', 'refuse', 'edit' or 'answer'"),
        ({**OK, "decision": "answer", "answer": 1}, [0, "decision"], "takes approve, refuse, edit, not answer"),
        ({**OK, "for": "ever"}, [0, "for"], "'once' or 'conversation'"),
        ({**OK, "scope": "once"}, [0, "scope"], "not permitted"),
        ({**OK, "comment": "\0"}, [0, "comment"], "NUL"),
        ({**OK, "comment": "x" * 3_000}, [0, "comment"], "at most 2000"),
        ({**OK, "arguments": {}}, [0, "arguments"], "the only one that takes 'arguments'"),
        (EDIT, [0, "arguments"], "needs 'arguments'"),
        ({**EDIT, "arguments": [1]}, [0, "arguments"], "valid dictionary"),
        ({**EDIT, "arguments": {"path": 1}}, [0, "arguments", "path"], 'not of type "string"'),
        ({**EDIT, "arguments": {"path": "x" * 900_000}}, [0, "arguments"], f"at most {LARGEST_BYTES} bytes as JSON"),
        ({**EDIT, "arguments": {"path": "\0"}}, [0, "arguments"], "NUL"),
        ({**EDIT, "arguments": {"\0": 1}}, [0, "arguments"], "NUL"),
        ({**EDIT, "arguments": {"path": nest(200)}}, [0, "arguments"], "64 levels"),
        ({**EDIT, "arguments": {"path": float("inf")}}, [0, "arguments"], "no such number"),
        ({**EDIT, "arguments": {"path": 10**20}}, [0, "arguments"], "at most 63 bits"),
        ({**EDIT, "arguments": {"path": 10**400}}, [0, "arguments"], "at most 63 bits"),
        ({**EDIT, "arguments": {"path": list(range(10_000))}}, [0, "arguments", "path"], "[0,1,2"),
        ({**EDIT, "answer": nest(200)}, [0, "answer"], "64 levels"),
    ],
)
async def test_a_wrong_body_is_refused_with_its_place_and_changes_nothing(shared_asking, body, place, message):
    service, run_id = shared_asking
    sent = json.dumps(body).encode()
    response = await service.client.post(
        f"/api/oracle/runs/{run_id}/deliveries", content=sent, headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 422
    assert len(response.content) < 10_000
    [mistake] = response.json()["detail"]
    assert mistake["loc"] == ["body", *place]
    assert message in mistake["msg"]
    assert len((await pending(service))["pending"]) == 1


@pytest.fixture
async def shared_asking(start):
    """A service without auth, and its run that asks."""
    service = await start([HANGS])
    async with asking(service, interrupt()) as run_id:
        yield service, run_id


async def test_a_body_that_nobody_can_read_is_refused(shared_asking):
    service, run_id = shared_asking
    for sent in (b"[" * 400_000, b"{"):
        response = await service.client.post(
            f"/api/oracle/runs/{run_id}/deliveries", content=sent, headers={"Content-Type": "application/json"}
        )
        assert response.status_code in (400, 422)
    assert len((await pending(service))["pending"]) == 1


async def test_a_run_goes_on_with_the_answer_of_a_person(start, tmp_path):
    write_trees(tmp_path)
    service = await start(tokens=TOKENS | OPERATOR, operators=("olga",))
    async with service.asking(headers=ALICE, tree="question") as streamed:
        asked = (await streamed.until_type("question"))["interrupt"]
        [waiting] = (await pending(service, ALICE))["pending"]
        assert waiting["run_id"] == streamed.run_id
        assert waiting["interrupt"].items() >= asked.items()
        body = {"id": asked["id"], "decision": "answer", "answer": "release"}
        assert (await answer(service, streamed.run_id, body)).status_code == 200
        await streamed.rest()
    answered = await streamed.until_type("answered")
    assert (answered["answer"], answered["interrupt"]["status"]) == ("release", "answered")
    assert streamed.text == "It is release."
    assert (await pending(service, ALICE))["pending"] == []


async def test_a_second_question_is_told_what_the_conversation_waits_for(start, tmp_path):
    write_trees(tmp_path)
    service = await start(tokens=TOKENS)
    first = await service.ask(headers=ALICE)
    context = first.done["context_id"]
    async with service.asking(headers=ALICE, tree="question", context_id=context) as streamed:
        asked = (await streamed.until_type("question"))["interrupt"]
        second = await service.client.post(
            "/api/oracle", json={"question": "And?", "context_id": context}, headers=ALICE
        )
        assert second.status_code == 409
        told = second.json()["detail"]
        assert "waits for a person: 'Which branch?'" in told
        assert asked["id"] in told
        assert f"/runs/{streamed.run_id}/deliveries" in told
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel", headers=ALICE)
        await streamed.rest()


async def test_a_cancelled_run_waits_for_nobody(start, tmp_path):
    write_trees(tmp_path)
    service = await start(tokens=TOKENS)
    async with service.asking(headers=ALICE, tree="question") as streamed:
        asked = (await streamed.until_type("question"))["interrupt"]
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel", headers=ALICE)
        await streamed.rest()
    assert (await streamed.until_type("answered"))["interrupt"]["status"] == "withdrawn"
    assert (await pending(service, ALICE))["pending"] == []
    late = await answer(service, streamed.run_id, {"id": asked["id"], "decision": "answer", "answer": "main"})
    assert late.status_code == 410
    assert (await service.parts.store.interrupts.of_run(streamed.run_id))[asked["id"]].status == "withdrawn"


async def test_what_is_granted_for_a_conversation_holds_for_its_next_query(start, tmp_path):
    write_trees(tmp_path)
    note = {"path": "a.md", "body": "One."}
    call = ScriptedTurn(tool_calls=(ScriptedCall("vault_write", note),))
    again = ScriptedTurn(tool_calls=(ScriptedCall("vault_write", note | {"path": "b.md"}),))
    done = ScriptedTurn(text="Done.")
    service = await start([call, done, again, done, call, done])
    async with service.asking(tree="approval") as streamed:
        asked = (await streamed.until_type("approval_requested"))["interrupt"]
        assert (asked["tool_name"], asked["arguments"]) == ("vault_write", note)
        body = {"id": asked["id"], "decision": "approve", "for": "conversation"}
        assert (await answer(service, streamed.run_id, body)).status_code == 200
        await streamed.rest()
    assert (tmp_path / "vault" / "a.md").exists()
    context = streamed.done["context_id"]
    second = await service.ask(tree="approval", context_id=context)
    assert "approval_requested" not in second.types
    assert (tmp_path / "vault" / "b.md").exists()
    [grant] = (await service.client.get("/api/oracle/grants")).json()["grants"]
    assert (await service.client.delete(f"/api/oracle/grants/{grant['id']}")).status_code == 204
    async with service.asking(tree="approval", context_id=context) as streamed:
        await streamed.until_type("approval_requested")
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()


async def test_a_client_answers_the_calls_of_its_own_tools(start, database_url):
    tool = {"name": "get_place", "description": "Where the user is.", "input_schema": {"type": "object"}}
    turns = [ScriptedTurn(tool_calls=(ScriptedCall("get_place", {}),)), ScriptedTurn(text="In Bern.")]
    service = await start(turns, url=database_url, timestamp=lambda: iso(time.time()))
    async with service.asking(tools=[tool]) as streamed:
        asked = (await streamed.until_type("question"))["interrupt"]
        assert (asked["tool_name"], asked["may"]) == ("get_place", ["answer"])
        wrong = {"id": asked["id"], "decision": "answer", "answer": {"text": "Bern"}}
        assert (await answer(service, streamed.run_id, wrong)).status_code == 422
        refused = await answer(service, streamed.run_id, {"id": asked["id"], "decision": "refuse"})
        assert refused.status_code == 422
        given = {"id": asked["id"], "decision": "answer", "answer": {"output": "Bern"}}
        assert (await answer(service, streamed.run_id, given)).status_code == 200
        await streamed.rest()
    assert streamed.text == "In Bern."


@pytest.mark.parametrize(
    ("tools", "place"),
    [
        ([{"name": "search_code"}], ["body", "tools"]),
        ([{"name": "a b"}], ["body", "tools"]),
        ([{"name": "a", "input_schema": {"type": "string"}}], ["body", "tools"]),
        ([{"name": "a"}] * 65, ["body", "tools"]),
        ([{"name": "a"}, {"name": "a"}], ["body", "tools"]),
        ([{"name": "a", "run": "rm"}], ["body", "tools", 0, "run"]),
        ([{}], ["body", "tools", 0, "name"]),
        ("a", ["body", "tools"]),
    ],
)
async def test_tools_that_cannot_be_offered_are_refused_with_their_place(shared_asking, tools, place):
    service, _ = shared_asking
    response = await service.client.post("/api/oracle", json={"question": "Hello", "tools": tools}, headers=ALICE)
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == place
