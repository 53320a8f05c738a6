"""The AI SDK itself, `AbstractChat` with `DefaultChatTransport`: each part goes through its `uiMessageChunkSchema`."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from oracle.testing import ScriptedTurn
from tests.acceptance.scripts import CAREFUL, answers, calls, says
from tests.connect.stage import Node, Stage, token
from tests.oracle.server.connect.ai_sdk.test_parts import CHUNKS, frames_of, stages
from tests.web.stage import held_answer

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "Where is the class RetryPolicy defined in the code?"
SEARCH = (
    ScriptedTurn(
        thinking=("I ", "look."), text=("Let me ", "look. "), tool_calls=(calls("search_code", query="RetryPolicy"),)
    ),
    answers("It is there."),
)
NOTE = {"path": "limits.md", "body": "Five."}
PLACE = {"name": "where_is", "description": "Where the user is.", "input_schema": {"properties": {"exact": {}}}}


async def chat(node: Node, stage: Stage, *steps: Sequence[Any], user: str = "alice", **options: Any) -> list[Any]:
    """What the client has after each step."""
    said = await node.run("ai_sdk.mjs", stage.url, token(user), json.dumps(steps), json.dumps(options))
    assert [each.get("failed") for each in said] == [None] * len(said), said
    return said


def text_of(message: Mapping[str, Any]) -> str:
    return "".join(part["text"] for part in message["parts"] if part["type"] == "text")


def like(message: Mapping[str, Any]) -> str:
    """The message without what differs between two runs of the same words."""
    known = message["metadata"]
    text = json.dumps({**message, "metadata": {**known, "seen": 0}}, sort_keys=True)
    for n, call in enumerate(tools_of(message)):
        text = text.replace(call["toolCallId"], f"CALL-{n}")
    # Pieces of text that come at once are one chunk, so that the numbers of chunks differ.
    return re.sub("RUN-[0-9]+", "RUN-N", text.replace(known["run_id"], "RUN").replace(known["context_id"], "CONTEXT"))


def tools_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [part for part in message["parts"] if "toolCallId" in part]


async def lay_careful(stage: Stage) -> None:
    async with stage.client("boss") as operator:
        there = await operator.get("/api/trees/careful")
        if there.status_code == 404:
            saved = await operator.put("/api/trees/careful", json={"source": CAREFUL, "version": None})
            assert saved.is_success, saved.text


async def test_an_answer_is_the_native_one_with_its_usage(node: Node, stage: Stage) -> None:
    stage.desk.play(*SEARCH)
    [said] = await chat(node, stage, ["send", QUESTION], chat="usage")
    assert said["status"] == "ready", said
    asked, message = said["messages"]
    assert asked["role"] == "user"
    assert text_of(message) == await stage.answer(message["id"])
    done = {name: value for name, value in (await stage.done(message["id"])).items() if name != "type"}
    assert {name: value for name, value in message["metadata"].items() if name != "seen"} == done
    assert [part["type"] for part in message["parts"] if not part["type"].startswith("source")] == [
        "step-start",
        "reasoning",
        "text",
        "dynamic-tool",
        "step-start",
        "text",
    ]


@pytest.mark.parametrize("replay", [True, False], ids=["from its start", "where it was"])
async def test_a_connection_that_is_lost_after_any_part_costs_nothing(node: Node, stage: Stage, replay: bool) -> None:
    stage.desk.play(*SEARCH)
    [undisturbed] = await chat(node, stage, ["send", QUESTION], chat=f"undisturbed-{replay}")
    parts = range(1, undisturbed["parts"])
    stage.desk.play(*SEARCH * len(parts))
    steps: list[Any] = []
    for n in parts:
        steps += [["chat", f"{replay}-{n}"], ["drop", n], ["send", QUESTION], ["whole"], ["resume"]]
    said = await chat(node, stage, *steps, replay=replay, sends=10_000)
    wanted = like(undisturbed["messages"][-1])
    for n, lost, resumed in zip(parts, said[2::5], said[4::5], strict=True):
        # Pieces that wait are joined: an answer may have fewer parts than the undisturbed one, and is not cut then.
        ended = lost["status"] == "ready"
        assert (lost["parts"] < n) if ended else (lost["status"], lost["parts"]) == ("error", n), (n, lost)
        assert (n, like(resumed["messages"][-1]), len(resumed["messages"])) == (n, wanted, 2)


async def test_a_stop_ends_the_run_and_what_was_said_stays(node: Node, stage: Stage) -> None:
    stage.desk.play(ScriptedTurn(text=("It begins ", "here "), hang=True))
    _, said = await chat(node, stage, ["meanwhile", QUESTION, "here ", "stop"], chat="stop")
    message = said["messages"][-1]
    assert said["status"] == "ready"
    assert text_of(message).startswith("It begins here ")
    assert message["metadata"]["termination_reason"] == "user_cancelled"
    assert text_of(message) == await stage.answer(message["id"])


async def test_a_client_that_leaves_finds_its_answer_again(node: Node, stage: Stage) -> None:
    gate = asyncio.Event()
    stage.desk.play(held_answer(gate, "It begins here. ", "And ends."))
    steps = [["meanwhile", QUESTION, "here. ", "leave"], ["resume"]]
    process = await node.start("ai_sdk.mjs", stage.url, token("alice"), json.dumps(steps), '{"chat": "leave"}')
    assert process.stdout is not None
    left = [json.loads(await process.stdout.readline()) for _ in range(2)]
    gate.set()
    said = json.loads(await process.stdout.readline())
    assert await process.wait() == 0
    assert left[1]["status"] == "ready"
    assert "tokens_used" not in left[1]["messages"][-1]["metadata"]
    message = said["messages"][-1]
    assert len(said["messages"]) == 2
    assert text_of(message) == await stage.answer(message["id"])
    assert message["metadata"]["termination_reason"] == "completed"


@pytest.mark.parametrize("approved", [True, False])
async def test_a_question_and_an_approval_go_on_in_the_same_message(node: Node, stage: Stage, approved: bool) -> None:
    await lay_careful(stage)
    stage.desk.play(says("I write it.", calls("vault_write", **NOTE)), answers("So be it."))
    asked, answered, decided, again = await chat(
        node,
        stage,
        ["send", "Write the limit to a note."],
        ["output", "release", "ask_user"],
        ["decide", 0, approved, "As you like."],
        ["resume"],
        chat=f"careful-{approved}",
        body={"tree": "careful"},
    )
    [question] = tools_of(asked["messages"][-1])
    assert question["input"]["question"] == "Which branch is meant?"
    assert asked["requests"] == ["POST /api/chat"]
    call = tools_of(answered["messages"][-1])[-1]
    assert call["state"] == "approval-requested"
    assert call["input"] == NOTE
    assert "vault_write" in call["approval"]["requestReason"]
    assert answered["requests"] == decided["requests"] == ["POST /api/chat"]
    message = decided["messages"][-1]
    assert [part["state"] for part in tools_of(message)] == [
        "output-available",
        "output-available" if approved else "output-denied",
    ]
    assert text_of(message) == await stage.answer(message["id"])
    assert message["metadata"]["termination_reason"] == "completed"
    assert [len(each["messages"]) for each in (asked, answered, decided, again)] == [2] * 4
    assert again["messages"] == decided["messages"]


async def test_calls_that_wait_side_by_side_are_decided_together(node: Node, stage: Stage) -> None:
    await lay_careful(stage)
    both = (calls("vault_write", path="a.md", body="A"), calls("vault_write", path="b.md", body="B"))
    stage.desk.play(says("I write them.", *both, both[0]), answers("So be it."))
    *_, one, said = await chat(
        node,
        stage,
        ["send", "Write two notes."],
        ["output", "main", "ask_user"],
        ["decide", 0, False],
        ["decide", 0, True],
        chat="together",
        body={"tree": "careful"},
    )
    assert one["requests"] == []
    assert said["requests"] == ["POST /api/chat"]
    first, second, same = tools_of(said["messages"][-1])[1:]
    assert first["state"] == "output-denied"
    assert second["approval"]["approved"] is True
    assert same["state"] == "output-error"  # it was asked about once
    assert said["messages"][-1]["metadata"]["termination_reason"] == "completed"


async def test_a_run_that_waits_can_be_stopped_and_takes_no_other_question(node: Node, stage: Stage) -> None:
    await lay_careful(stage)
    stage.desk.play(answers("Yes."))
    _, other, stopped, read, said = await chat(
        node,
        stage,
        ["send", "Write the limit to a note."],
        ["send", "And another one?"],
        ["stop"],
        ["resume"],
        ["send", "Is it over?"],
        chat="waits",
        body={"tree": "careful"},
    )
    assert other["error"]["status"] == 409
    assert "waits" in other["error"]["message"]
    assert read["messages"][1]["metadata"]["termination_reason"] == "user_cancelled"
    assert said["requests"] == ["POST /api/chat"]
    assert stopped["status"] == "error"  # of the question that was refused


async def test_a_call_whose_arguments_were_changed_is_not_approved(node: Node, stage: Stage) -> None:
    await lay_careful(stage)
    stage.desk.play(says("I write it.", calls("vault_write", **NOTE)), answers("So be it."))
    *_, decided, again, right = await chat(
        node,
        stage,
        ["send", "Write the limit to a note."],
        ["output", "main", "ask_user"],
        ["tamper", NOTE | {"path": "../secrets.md"}],
        ["decide", 0, True],
        ["resume"],
        ["decide", 0, True],
        chat="tampered",
        body={"tree": "careful"},
    )
    assert decided["status"] == "error"
    assert decided["error"]["status"] == 400
    assert decided["error"]["message"].endswith("POST /api/oracle/runs/{run_id}/deliveries")
    assert tools_of(again["messages"][-1])[-1]["input"] == NOTE  # the truth
    assert tools_of(right["messages"][-1])[-1]["approval"]["approved"] is True
    assert right["messages"][-1]["metadata"]["termination_reason"] == "completed"


async def test_a_tool_of_the_page_is_run_by_the_page(node: Node, stage: Stage) -> None:
    stage.desk.play(says("Let me see.", calls("where_is", exact=1.0)), answers("You are in Lima."))
    [said] = await chat(
        node,
        stage,
        ["send", "Where am I?"],
        chat="page",
        body={"tools": [PLACE]},
        tools={"where_is": {"output": {"city": "Lima"}}},
    )
    message = said["messages"][-1]
    [call] = tools_of(message)
    assert call["type"] == "tool-where_is"
    assert (call["input"], call["output"]) == ({"exact": 1}, {"city": "Lima"})
    assert said["requests"] == ["POST /api/chat"] * 2
    assert text_of(message) == await stage.answer(message["id"])
    assert json.loads(stage.desk.bodies[-1]["messages"][-1]["content"][0]["content"]) == {"city": "Lima"}


async def test_a_tool_of_the_page_that_fails_is_an_error_to_the_model(node: Node, stage: Stage) -> None:
    stage.desk.play(says("Let me see.", calls("where_is")), answers("Nobody knows."))
    failed = {"state": "output-error", "errorText": "The user said no."}
    [said] = await chat(
        node, stage, ["send", "Where am I?"], chat="page-fails", body={"tools": [PLACE]}, tools={"where_is": failed}
    )
    [call] = tools_of(said["messages"][-1])
    assert (call["state"], call["errorText"]) == ("output-error", "The user said no.")
    said_by_user = [each for each in stage.desk.bodies[-1]["messages"] if each["role"] == "user"]  # a note follows
    results = said_by_user[-1]
    assert results["content"][0]["is_error"] is True


async def test_a_question_that_is_asked_anew_or_edited_goes_on_in_a_fork(node: Node, stage: Stage) -> None:
    stage.desk.play(*[answers(text) for text in ("One.", "Two.", "Three.", "Four.", "Five.")])
    said = await chat(
        node,
        stage,
        ["send", "First?"],
        ["send", "Second?"],
        ["again"],
        ["edit", 2, "Other?"],
        ["send", "Last?"],
        chat="fork",
    )
    contexts = [each["messages"][-1]["metadata"]["context_id"] for each in said]
    assert contexts[0] == contexts[1]
    assert len(set(contexts[1:4])) == 3
    assert contexts[3] == contexts[4]
    assert [text_of(message).strip() for message in said[-1]["messages"]] == [
        "First?",
        "One.",
        "Other?",
        "Four.",
        "Last?",
        "Five.",
    ]
    heard = json.dumps(stage.desk.bodies[-1]["messages"])
    assert "One." in heard
    assert "Four." in heard
    assert "Two." not in heard
    assert "Three." not in heard


async def test_a_refused_question_is_told_and_the_chat_goes_on(node: Node, stage: Stage) -> None:
    stage.desk.play(answers("Yes."))
    refused, said = await chat(node, stage, ["file", "What is this?"], ["send", "Is it without?"], chat="file")
    assert refused["error"]["status"] == 415
    assert refused["error"]["message"].endswith("PDF, and UTF-8 text are taken")
    assert text_of(said["messages"][-1]).strip() == "Yes."


@pytest.mark.usefixtures("on_both_databases")
async def test_an_answer_whose_worker_is_killed_is_read_to_its_end(node: Node, stage: Stage) -> None:
    stage.desk.play(ScriptedTurn(text=("One ", "two "), hang=True), ScriptedTurn(text="three."), answers("three."))
    steps = [["meanwhile", "Count to three.", "two ", "nothing"], ["wait"], ["resume"]]
    process = await node.start("ai_sdk.mjs", stage.url, token("alice"), json.dumps(steps), '{"chat": "killed"}')
    assert process.stdout is not None
    await process.stdout.readline()
    await stage.kill()
    out, errors = await process.communicate(b"\n")
    assert process.returncode == 0, errors
    lost, _, said = map(json.loads, out.splitlines())
    assert lost["status"] == "error"
    message = said["messages"][-1]
    assert said["status"] == "ready", said
    assert text_of(message) == await stage.answer(message["id"])
    assert text_of(message).replace("three.", "").strip() in ("One two", "")
    assert message["metadata"]["termination_reason"] == "completed"


async def test_users_do_not_meet_in_a_chat_of_the_same_name(node: Node, stage: Stage) -> None:
    stage.desk.play(answers("To alice."), answers("To bob."))
    [alice] = await chat(node, stage, ["send", "Who am I?"], chat="same")
    [none, bob] = await chat(node, stage, ["resume"], ["send", "Who am I?"], chat="same", user="bob")
    assert none["messages"] == []
    assert text_of(alice["messages"][-1]).strip() == "To alice."
    assert text_of(bob["messages"][-1]).strip() == "To bob."


async def test_each_kind_of_part_is_read_as_it_was_meant(node: Node, stage: Stage, tmp_path: Path) -> None:
    """The log of `test_parts`: read at once, and gone on with wherever it waits."""
    files = []
    for name, frames in (("whole", frames_of(CHUNKS)), *(enumerate(stages()))):
        files.append(tmp_path / str(name))
        files[-1].write_bytes(b"".join(frames))
    whole, first, *rest = map(str, files)
    [at_once] = await chat(node, stage, ["play", whole])
    *_, in_stages = await chat(node, stage, ["play", first], *[["continue", each] for each in rest])
    assert at_once["error" if "error" in at_once else "status"] == "ready"
    assert in_stages["messages"] == at_once["messages"]
    assert [part["state"] for part in tools_of(at_once["messages"][0])] == [
        "output-available",
        "output-available",
        "output-available",
        "output-available",
        "output-denied",
        "output-available",
    ]
    assert in_stages["requests"] == ["POST /api/chat"]  # nothing is sent by itself again and again
