"""The AI SDK itself, `AbstractChat` with `DefaultChatTransport`: each part goes through its `uiMessageChunkSchema`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from oracle.testing import ScriptedTurn
from tests.acceptance.scripts import answers, calls
from tests.connect.stage import Node, Stage, token

pytestmark = pytest.mark.asyncio(loop_scope="session")

SEARCH = (
    ScriptedTurn(
        thinking=("I ", "look."), text=("Let me ", "look. "), tool_calls=(calls("search_code", query="retry"),)
    ),
    answers("It is there."),
)


async def chat(node: Node, stage: Stage, *steps: Sequence[Any], user: str = "alice", **options: Any) -> list[Any]:
    """What the client has after each step."""
    told = ("ai_sdk.mjs", stage.url, token(user), json.dumps(steps), json.dumps(options))
    said = await node.run(*told)
    assert [each["did"] for each in said] == [each[0] for each in steps]
    return said


def text_of(message: Mapping[str, Any]) -> str:
    return "".join(part["text"] for part in message["parts"] if part["type"] == "text")


def like(message: Mapping[str, Any]) -> Any:
    """The message without what differs between two runs of the same words."""
    known = message["metadata"]
    text = json.dumps({**message, "metadata": {**known, "tokens_used": 0}}, sort_keys=True)
    return text.replace(known["run_id"], "RUN").replace(known["context_id"], "CONTEXT")


async def test_an_answer_is_the_native_one_with_its_usage(node: Node, stage: Stage) -> None:
    stage.desk.play(*SEARCH)
    [said] = await chat(node, stage, ["send", "Where is the class RetryPolicy defined in the code?"])
    assert said["status"] == "ready", said
    asked, message = said["messages"]
    assert asked["role"] == "user"
    assert text_of(message) == await stage.answer(message["id"])
    done = await stage.done(message["id"])
    known = {name: value for name, value in done.items() if name != "type"}
    assert {name: value for name, value in message["metadata"].items() if name != "seen"} == known
    assert [part["type"] for part in message["parts"] if part["type"] != "source-document"] == [
        "step-start",
        "reasoning",
        "text",
        "dynamic-tool",
        "step-start",
        "text",
    ]
