"""The calls of a debugger: what operators get, what others do not, and what is wrong is said."""

import asyncio
from typing import Any

import pytest

from tests.oracle.runs.debugging.sessions import LLM_TURN
from tests.oracle.runs.running import PATIENCE_S
from tests.oracle.server.api.conftest import ALICE, OLGA, OPERATOR, TOKENS, Service

AUTH = {"tokens": {**TOKENS, **OPERATOR}, "operators": ("olga",)}
NODE = {"kind": "node", "tree": "oracle", "path": LLM_TURN}


async def until(service: Service, run_id: str, state: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    """Wait until a run stands so."""
    known: dict[str, Any] = {}
    async with asyncio.timeout(PATIENCE_S):
        while True:
            answer = await service.client.get(f"/api/runs/{run_id}/debug", params=known, headers=headers)
            assert answer.status_code == 200, answer.text
            found: dict[str, Any] = answer.json()
            if found["state"] == state:
                return found
            known = {"wait_s": 60, **({"since": found["since"]} if found["since"] else {})}


async def test_operators_may_debug_where_it_is_on(start: Any) -> None:
    service = await start(debug=True, **AUTH)
    for who, may in ((OLGA, True), (ALICE, False)):
        assert (await service.client.get("/api/me", headers=who)).json()["can_debug"] is may


async def test_an_operator_pauses_a_users_run_changes_it_and_lets_it_go(start: Any) -> None:
    service = await start(debug=True, **AUTH)
    new = await service.client.post("/api/debug/breakpoints", json={**NODE, "user_id": "alice"}, headers=OLGA)
    assert new.status_code == 201, new.text
    assert {"kind": "node", "path": LLM_TURN, "created_by": "olga", "enabled": True, "problem": None}.items() <= (
        new.json().items()
    )
    async with service.asking(headers=ALICE) as heard:
        paused = await until(service, heard.run_id, "paused", OLGA)
        assert (paused["tick"], paused["by"], paused["hit"]["breakpoint"]) == (1, None, new.json()["id"])
        assert 0 < paused["lease_s"] <= 120
        url = f"/api/runs/{heard.run_id}/debug"
        change = {"command": "set", "key": "hint", "value": "Be brief."}
        changed = await service.client.post(url, json=change, headers=OLGA)
        assert (changed.status_code, changed.json()["values"]) == (202, {"hint": "Be brief."})
        forced = {"command": "force", "path": "finally/sequence/turns/deadline", "result": "success"}
        answer = await service.client.post(url, json=forced, headers=OLGA)
        assert answer.json()["results"] == {"finally/sequence/turns/deadline": "success"}
        resumed = await service.client.post(url, json={"command": "resume"}, headers=OLGA)
        assert (resumed.json()["state"], resumed.json()["why"], resumed.json()["by"]) == ("running", "command", "olga")
        await heard.rest()
    said = [chunk for chunk in heard.chunks if chunk.get("system_type") == "paused"]
    assert [chunk["metadata"]["state"] for chunk in said] == ["paused", "resumed"]
    assert said[0]["system_message"] == "Paused by an operator at tick 1. The time limit stands still."
    assert "Be brief." in str(service.model.requests[0].messages)
    ended = await service.client.get(url, headers=OLGA)
    assert (ended.json()["state"], ended.json()["lease_s"]) == ("ended", None)
    refused = await service.client.post(url, json={"command": "pause"}, headers=OLGA)
    assert (refused.status_code, refused.json()["detail"]) == (409, "the run has ended")


CALLS = [
    ("GET", "/api/runs/{run}/debug", None),
    ("POST", "/api/runs/{run}/debug", {"command": "pause"}),
    ("GET", "/api/debug/breakpoints", None),
    ("POST", "/api/debug/breakpoints", {"kind": "start"}),
    ("PATCH", "/api/debug/breakpoints/b1", {"enabled": False}),
    ("DELETE", "/api/debug/breakpoints/b1", None),
]


@pytest.mark.parametrize("is_on", [True, False])
async def test_a_user_who_is_no_operator_gets_nothing_even_of_own_runs(start: Any, is_on: bool) -> None:
    service = await start(debug=is_on, **AUTH)
    heard = await service.ask(headers=ALICE)
    for method, path, body in CALLS:
        for run in (heard.run_id, "none"):
            answer = await service.client.request(method, path.format(run=run), json=body, headers=ALICE)
            assert (answer.status_code, answer.json()["detail"]) == (
                403,
                "Only operators may do this; ORACLE_OPERATORS names them.",
            )
    assert await service.parts.store.breakpoints.all() == []


async def test_where_debugging_is_off_the_answer_says_how_to_turn_it_on(start: Any) -> None:
    service = await start(**AUTH)
    heard = await service.ask(headers=ALICE)
    for method, path, body in CALLS:
        answer = await service.client.request(method, path.format(run=heard.run_id), json=body, headers=OLGA)
        assert answer.status_code == 409, (method, path)
        assert "ORACLE_DEBUG=1" in answer.json()["detail"]


WRONG: list[tuple[dict[str, Any], list[str], str]] = [
    ({"kind": "node"}, ["body", "path"], "a breakpoint on a node needs its 'path'"),
    ({"kind": "node", "path": LLM_TURN}, ["body", "path"], "needs the 'tree' or the 'run_id'"),
    ({**NODE, "path": "finally/sequence/turns/sequence/llm_trn"}, ["body", "path"], f"did you mean '{LLM_TURN}'"),
    ({**NODE, "tree": "orcale"}, ["body", "tree"], "did you mean 'oracle'"),
    ({"kind": "condition"}, ["body", "expression"], "needs an 'expression'"),
    ({"kind": "condition", "expression": "trun > 3"}, ["body", "expression"], "did you mean 'turn'"),
    ({"kind": "condition", "expression": "turn >"}, ["body", "expression"], "column"),
    ({"kind": "start", "expression": "turn > 1"}, ["body", "expression"], "of the kind 'start' has no 'expression'"),
    ({"kind": "start", "path": LLM_TURN, "tree": "oracle"}, ["body", "path"], "of the kind 'start' has no 'path'"),
    ({"kind": "start", "run_id": "none"}, ["body", "run_id"], "there is no such run"),
    ({"kind": "never"}, ["body", "kind"], "Input should be 'start', 'node', 'condition' or 'error'"),
]


@pytest.mark.parametrize(("body", "loc", "message"), WRONG)
async def test_a_breakpoint_that_cannot_be_hit_is_refused_with_what_would_be_right(
    start: Any, body: dict[str, Any], loc: list[str], message: str
) -> None:
    service = await start(debug=True)
    answer = await service.client.post("/api/debug/breakpoints", json=body)
    assert answer.status_code == 422, answer.text
    (mistake,) = answer.json()["detail"]
    assert mistake["loc"] == loc
    assert message in mistake["msg"]


async def test_a_mistake_in_an_expression_has_its_column(start: Any) -> None:
    service = await start(debug=True)
    answer = await service.client.post("/api/debug/breakpoints", json={"kind": "condition", "expression": "1 < trun"})
    assert answer.json()["detail"][0]["ctx"] == {"column": 5}


async def test_a_request_waits_for_another_state_than_the_one_that_is_known(start: Any) -> None:
    service = await start(debug=True)
    url = "/api/runs/{}/debug"
    await service.client.post("/api/debug/breakpoints", json=NODE)
    async with service.asking() as heard:
        paused = await until(service, heard.run_id, "paused")
        known = {"since": paused["since"], "wait_s": 60}
        waiting = asyncio.create_task(service.client.get(url.format(heard.run_id), params=known))
        at_once = await service.client.get(url.format(heard.run_id), params={"wait_s": 60})
        assert at_once.json()["state"] == "paused"
        briefly = await service.client.get(url.format(heard.run_id), params={**known, "wait_s": 0.01})
        assert briefly.json()["since"] == paused["since"]
        assert not waiting.done()
        await service.client.post(url.format(heard.run_id), json={"command": "resume"})
        assert (await waiting).json()["why"] == "command"
        await heard.rest()
    ended = await service.client.get(url.format(heard.run_id), params=known)
    assert ended.json()["state"] == "ended"
    too_long = await service.client.get(url.format(heard.run_id), params={"wait_s": 61})
    assert too_long.status_code == 422


async def test_breakpoints_are_listed_turned_off_and_removed(start: Any) -> None:
    service = await start(debug=True)
    calls = service.client
    ids = [(await calls.post("/api/debug/breakpoints", json=body)).json()["id"] for body in (NODE, {"kind": "error"})]
    listed = (await calls.get("/api/debug/breakpoints")).json()["breakpoints"]
    assert [each["id"] for each in listed] == ids
    off = await calls.patch(f"/api/debug/breakpoints/{ids[0]}", json={"enabled": False})
    assert (off.status_code, off.json()["enabled"]) == (200, False)
    assert (await service.ask()).done["termination_reason"] == "completed"
    assert (await calls.delete(f"/api/debug/breakpoints/{ids[0]}")).status_code == 204
    for answer in (
        await calls.delete(f"/api/debug/breakpoints/{ids[0]}"),
        await calls.patch(f"/api/debug/breakpoints/{ids[0]}", json={"enabled": True}),
    ):
        assert (answer.status_code, answer.json()["detail"]) == (404, "There is no such breakpoint.")


async def test_a_breakpoint_on_a_node_that_an_edit_has_removed_says_so(start: Any, tmp_path: Any) -> None:
    service = await start(debug=True, trees_folder=tmp_path)
    (tmp_path / "mine.yaml").write_text("tree: mine\nroot: {sequence: [say: Hello., finish]}\n", encoding="utf-8")
    body = {"kind": "node", "tree": "mine", "path": "sequence/say"}
    assert (await service.client.post("/api/debug/breakpoints", json=body)).status_code == 201
    (tmp_path / "mine.yaml").write_text("tree: mine\nroot: {sequence: [stop: stuck, finish]}\n", encoding="utf-8")
    (listed,) = (await service.client.get("/api/debug/breakpoints")).json()["breakpoints"]
    assert "has no node 'sequence/say'" in listed["problem"]


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ({"command": "set", "key": "turn", "value": 1}, 422, "cannot be changed"),
        ({"command": "set", "key": "hint", "value": 1}, 422, "'hint' must be text, not 1"),
        ({"command": "set", "key": "hint"}, 422, "Field required"),
        ({"command": "force", "path": "nowhere", "result": "success"}, 422, "has no node 'nowhere'"),
        ({"command": "force", "path": LLM_TURN, "result": "maybe"}, 422, "Input should be 'success' or 'failure'"),
        ({"command": "explode"}, 422, "does not match any of the expected tags"),
        ({}, 422, "Unable to extract tag"),
        ({"command": "pause"}, 409, "the run is paused already"),
    ],
)
async def test_a_command_that_is_wrong_is_refused_and_changes_nothing(
    start: Any, command: dict[str, Any], status: int, message: str
) -> None:
    service = await start(debug=True)
    await service.client.post("/api/debug/breakpoints", json=NODE)
    async with service.asking() as heard:
        before = await until(service, heard.run_id, "paused")
        answer = await service.client.post(f"/api/runs/{heard.run_id}/debug", json=command)
        assert answer.status_code == status, answer.text
        assert message in answer.text
        after = await until(service, heard.run_id, "paused")
        assert {**before, "lease_s": 0} == {**after, "lease_s": 0}
        await service.client.post(f"/api/oracle/runs/{heard.run_id}/cancel")
        await heard.rest()
    assert heard.done["termination_reason"] == "user_cancelled"
    unknown = await service.client.get("/api/runs/none/debug")
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "There is no such run.")


async def test_a_value_that_the_record_could_not_give_back_is_refused(start: Any) -> None:
    service = await start(debug=True)
    await service.client.post("/api/debug/breakpoints", json=NODE)
    async with service.asking() as heard:
        await until(service, heard.run_id, "paused")
        for value in ('"\\ud800"', '"a' + "\\udfff" + '"'):
            answer = await service.client.post(
                f"/api/runs/{heard.run_id}/debug",
                content=f'{{"command": "set", "key": "hint", "value": {value}}}',
                headers={"Content-Type": "application/json"},
            )
            assert answer.status_code == 422, answer.text
        await service.client.post(f"/api/runs/{heard.run_id}/debug", json={"command": "resume"})
        await heard.rest()
