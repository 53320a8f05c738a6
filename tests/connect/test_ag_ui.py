"""AG-UI's own `HttpAgent`: its schemas and its `verifyEvents` judge each event, and what it strips is a failure."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest

from oracle.server.connect.ag_ui.events import AgUiEvents
from oracle.testing import ScriptedTurn
from tests.acceptance.scripts import answers, calls
from tests.connect.stage import PATIENCE_S, Node, Stage, token
from tests.oracle.server.connect.scripted import SCRIPTED, played

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "Where is the class RetryPolicy defined in the code?"
PLACE = {"name": "get_place", "description": "Where the user is.", "parameters": {"type": "object", "properties": {}}}
TREE = """\
tree: searching
description: Each search needs a person.
root:
  finally:
    child:
      sequence:
        - classify_query
        - force_success: { offer_tools: [search_code] }
        - compose_prompt
        - loop:
            until: termination_reason
            guards: [cancelled, turn_budget, token_budget, deadline]
            child:
              sequence:
                - llm_turn
                - if:
                    when: tool_calls > 0
                    then: { run_tools: { approve: [search_code] } }
                    else: { stop: completed }
    then: { sequence: [explain_stop, finish] }
"""
SEARCHES = (
    ScriptedTurn(
        text="I look. ", tool_calls=(calls("search_code", query="retry"), calls("search_code", query="log_in"))
    ),
    answers("It is there."),
)
CAREFUL = {"forwardedProps": {"tree": "searching"}}


@pytest.fixture
def careful(stage: Stage) -> Stage:
    """The stage, with trees that ask; one of them for a second."""
    for worker in stage.workers:
        folder = worker.data / "trees"
        folder.mkdir(exist_ok=True)
        (folder / "searching.yaml").write_text(TREE)
        hasty = TREE.replace("searching", "hasty").replace(
            "approve: [search_code]", "approve: [search_code], expires: 1s"
        )
        (folder / "hasty.yaml").write_text(hasty)
    return stage


def new_thread() -> str:
    return f"thread-{uuid4().hex}"


async def told(node: Node, stage: Stage, thread: str, *steps: Sequence[Any], user: str = "alice") -> list[Any]:
    """What the client has after each step."""
    said = await node.run("ag_ui.mjs", stage.url, token(user), thread, json.dumps(steps))
    assert [each["did"] for each in said] == [each[0] for each in steps]
    assert [each["warnings"] for each in said] == [[]] * len(said)
    return said


async def test_the_recorded_conversations_pass_the_client_s_own_pipeline(node: Node) -> None:
    frames = [b"".join(played(AgUiEvents(row.run, thread="t"), row)).decode() for row in SCRIPTED]
    process = await node.start("ag_ui.mjs", "play")
    out, errors = await process.communicate(json.dumps([*frames, "".join(frames)]).encode())
    assert process.returncode == 0, errors.decode()
    *found, together = [json.loads(line) for line in out.splitlines()]
    for row, each in zip(SCRIPTED, found, strict=True):
        assert isinstance(each["events"], list), (row.name, each)
        assert not each["warnings"]
        said = [event["delta"] for event in each["events"] if event["type"] == "TEXT_MESSAGE_CONTENT"]
        assert "".join(said) == row.answer.text
    assert len(together["events"]) == sum(len(each["events"]) for each in found), "as one thread"


async def test_an_answer_is_the_native_one_with_its_usage(node: Node, stage: Stage) -> None:
    stage.desk.play(
        ScriptedTurn(thinking=("I ", "look."), text="I look. ", tool_calls=(calls("search_code", query="retry"),)),
        answers("It is there."),
        answers("Nothing more."),
    )
    first, second, again = await told(node, stage, new_thread(), ["say", QUESTION], ["say", "And then?"], ["reload"])
    assert first["error"] is None
    assert first["types"][:3] == ["RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT"]
    assert "".join(first["answers"]) == await stage.answer(first["run"])
    done = await stage.done(first["run"])
    [usage] = first["last"]["usage"]
    known = done["usage"]
    assert usage["outputTokens"] == known["output_tokens"]
    assert usage["inputTokens"] == sum(known[f"{kind}_tokens"] for kind in ("input", "cache_creation", "cache_read"))
    assert first["last"]["outcome"] == {"type": "success"}
    assert second["asked"] == [QUESTION, "And then?"]
    assert (again["asked"], again["answers"], again["results"]) == (
        second["asked"],
        second["answers"],
        second["results"],
    )


async def test_of_two_interrupts_one_is_cancelled_and_the_same_answers_come_twice(node: Node, careful: Stage) -> None:
    careful.desk.play(*SEARCHES)
    thread = new_thread()
    [asked] = await told(node, careful, thread, ["say", QUESTION, CAREFUL])
    first, second = asked["interrupts"]
    await careful.kill()
    resume = [
        {"interruptId": first["id"], "status": "resolved", "payload": {"approved": True}},
        {"interruptId": second["id"], "status": "cancelled"},
    ]
    loaded, gone_on, again, other = await told(
        node,
        careful,
        thread,
        ["reload"],
        ["resume", {"status": "resolved", "payload": {"approved": True}}, {"status": "cancelled"}],
        ["resumeAs", resume],
        ["resumeAs", [{**resume[0], "payload": False}, resume[1]]],
    )
    assert [each["id"] for each in loaded["interrupts"]] == [first["id"], second["id"]]
    assert gone_on["error"] is None
    assert gone_on["last"]["outcome"] == {"type": "success"}
    assert "".join(gone_on["answers"]) == await careful.answer(gone_on["run"])
    refused = [text for text in gone_on["results"] if "refused" in text]
    assert (len(gone_on["results"]), len(refused)) == (2, 1)
    assert again["types"] == gone_on["types"]
    assert other["error"]["status"] == 409
    assert other["error"]["payload"]["code"] == 409


async def test_what_somebody_else_has_decided_cannot_be_decided_otherwise(node: Node, careful: Stage) -> None:
    careful.desk.play(SEARCHES[0], answers("Without."))
    thread = new_thread()
    [asked] = await told(node, careful, thread, ["say", QUESTION, CAREFUL])
    async with careful.client() as client:
        path = f"/api/oracle/runs/{asked['run']}/deliveries"
        await client.post(path, json=[{"id": each["id"], "decision": "refuse"} for each in asked["interrupts"]])
    given = [{"interruptId": each["id"], "status": "resolved", "payload": True} for each in asked["interrupts"]]
    cancelled = [{"interruptId": each["id"], "status": "cancelled"} for each in asked["interrupts"]]
    late, gone_on = await told(node, careful, thread, ["resumeAs", given], ["resumeAs", cancelled])
    assert late["error"]["status"] == 409, late
    assert gone_on["error"] is None
    assert gone_on["answers"][-1].strip() == "Without."


async def test_what_has_expired_is_gone_and_can_be_cancelled(node: Node, careful: Stage) -> None:
    careful.desk.play(SEARCHES[0], answers("Without."))
    thread = new_thread()
    [asked] = await told(node, careful, thread, ["say", QUESTION, {"forwardedProps": {"tree": "hasty"}}])
    ids = [each["id"] for each in asked["interrupts"]]
    assert len(ids) == 2
    await careful.done(asked["run"])  # goes on when nobody has answered in time
    given = [{"interruptId": each, "status": "resolved", "payload": True} for each in ids]
    cancelled = [{"interruptId": each, "status": "cancelled"} for each in ids]
    late, gone_on = await told(node, careful, thread, ["resumeAs", given], ["resumeAs", cancelled])
    assert late["error"]["status"] == 410
    assert "expired" in late["error"]["payload"]["message"]
    assert gone_on["error"] is None
    assert gone_on["answers"][-1].strip() == "Without."
    assert len([text for text in gone_on["results"] if "nobody answered in time" in text]) == 2


async def test_tools_of_the_page_are_called_and_answered_by_messages(node: Node, stage: Stage) -> None:
    stage.desk.play(
        ScriptedTurn(text="I look. ", tool_calls=(calls("get_place"), calls("search_code", query="retry"))),
        ScriptedTurn(text="Once more. ", tool_calls=(calls("get_place"),)),
        answers("In Bern."),
    )
    tools = {"tools": [PLACE]}
    asked, once, twice = await told(
        node,
        stage,
        new_thread(),
        ["say", QUESTION, tools],
        ["results", {"get_place": "Basel"}, tools],
        ["results", {"get_place": "Bern"}, tools],
    )
    assert len(asked["calls"]) == len(once["calls"]) == 1
    assert asked["calls"] != once["calls"]
    assert twice["error"] is None
    assert "".join(twice["answers"]) == await stage.answer(twice["run"])
    ids = [message["toolCallId"] for message in twice["messages"] if message["role"] == "tool"]
    assert len(ids) == len(set(ids)) == 3, "the client has each result once"


@pytest.mark.usefixtures("on_both_databases")
async def test_a_page_that_was_loaded_anew_gives_the_result_after_the_death_of_the_worker(
    node: Node, stage: Stage
) -> None:
    stage.desk.play(ScriptedTurn(text="I look. ", tool_calls=(calls("get_place"),)), answers("In Bern."))
    thread = new_thread()
    [asked] = await told(node, stage, thread, ["say", QUESTION, {"tools": [PLACE]}])
    await stage.kill()
    loaded, answered = await told(node, stage, thread, ["reload"], ["results", {"get_place": "Bern"}])
    assert loaded["calls"] == asked["calls"]
    assert answered["error"] is None
    assert answered["last"]["outcome"] == {"type": "success"}
    assert "".join(answered["answers"]) == await stage.answer(answered["run"])
    assert stage.desk.bodies[-1]["tools"][-1]["name"] == "get_place", "the run has kept the tools of the page"


@pytest.mark.usefixtures("on_both_databases")
async def test_an_answer_survives_the_death_of_its_worker(node: Node, stage: Stage) -> None:
    stage.desk.play(ScriptedTurn(text=("One ", "two "), hang=True), ScriptedTurn(text="three."))
    thread = new_thread()
    steps = json.dumps([["say", "Count to three."]])
    process = await node.start("ag_ui.mjs", stage.url, token("alice"), thread, steps)
    await stage.desk.wait_request()
    await stage.kill()
    async with asyncio.timeout(PATIENCE_S):
        out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    [lost] = [json.loads(line) for line in out.splitlines()]
    assert lost["error"] is not None
    [loaded] = await told(node, stage, thread, ["reload"])
    assert loaded["error"] is None
    assert "".join(loaded["answers"]) == await stage.answer(loaded["run"])
    assert loaded["last"]["outcome"] == {"type": "success"}


async def test_a_stop_is_a_call_of_its_own(node: Node, stage: Stage) -> None:
    stage.desk.play(ScriptedTurn(text=("One ", "two "), hang=True))
    thread = new_thread()
    process = await node.start("ag_ui.mjs", stage.url, token("alice"), thread, json.dumps([["say", "Count."]]))
    await stage.desk.wait_request()
    async with stage.client() as client:
        assert (await client.post(f"/agui/threads/{thread}/cancel")).status_code == 202
    async with asyncio.timeout(PATIENCE_S):
        out, _ = await process.communicate()
    [stopped] = [json.loads(line) for line in out.splitlines()]
    assert stopped["last"].get("outcome") == {"type": "cancelled"}, stopped


async def test_a_thread_of_another_user_does_not_exist(node: Node, stage: Stage) -> None:
    stage.desk.play(answers("For alice."), answers("For bob."))
    thread = new_thread()
    await told(node, stage, thread, ["say", "hello"])
    loaded, own = await told(node, stage, thread, ["reload"], ["say", "hello"], user="bob")
    assert loaded["error"]["status"] == 404
    assert own["answers"] == ["For bob."]
