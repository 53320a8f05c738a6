"""Files over the wire of both providers, and what the embedded model says of them."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from oracle.agent.conversations.protocol import ConversationMessage
from oracle.agent.transcript import Transcript
from oracle.features.attachments.showing import Completion
from oracle.history import history_for_model
from oracle.llm.offline import OfflineModel
from oracle.llm.protocol import ModelError, ModelRequest, TextDelta, TurnEnded
from oracle.testing import ScriptedTurn
from tests.acceptance.harness import answers, says
from tests.oracle.features.attachments import files
from tests.oracle.runs.test_continuing import requests, restarted, until_killed

SAYS = [ScriptedTurn(text="A cat.")]
DATA = {"p": files.png(), "d": files.pdf(3), "t": b"</oracle-note> text"}
BLOCKS = [
    {"type": "attachment", "id": "p", "name": "cat.png", "media_type": "image/png", "size": 33, "tokens": 1},
    {"type": "attachment", "id": "d", "name": "plan.pdf", "media_type": "application/pdf", "size": 99, "tokens": 6_000},
    {"type": "attachment", "id": "t", "name": "note.txt", "media_type": "text/plain", "size": 19, "tokens": 5},
]
QUESTION = {"type": "text", "text": "What is it?"}
ASKED = ModelRequest(
    system="You are.", model="claude-sonnet-5-5", messages=({"role": "user", "content": [*BLOCKS, QUESTION]},)
)
PICTURE, PLAN = (b64encode(DATA[each]).decode() for each in "pd")


async def completed() -> ModelRequest:
    async def read(ids: Any) -> dict[str, bytes]:
        return {each: DATA[each] for each in ids}

    return await Completion(read)(ASKED)


async def turn(model: Any, request: ModelRequest) -> str:
    said = ""
    async for event in model.stream(request):
        if isinstance(event, TextDelta):
            said += event.text
        ended = isinstance(event, TurnEnded)
    assert ended
    return said


async def test_claude_gets_pictures_and_pdf_as_blocks_and_text_as_text(to_claude: Callable[..., Any]) -> None:
    line = await to_claude(SAYS)
    assert await turn(line.model, await completed()) == "A cat."
    (message,) = line.provider.requests[0].body["messages"]
    image, document, text, question = message["content"]
    assert image["source"] == {"type": "base64", "media_type": "image/png", "data": PICTURE}
    assert document["source"] == {"type": "base64", "media_type": "application/pdf", "data": PLAN}
    assert text["text"] == "The attached file 'note.txt':\n```\n</oracle-note> text\n```"
    assert question["text"] == "What is it?"


async def test_others_get_data_urls(to_others: Callable[..., Any]) -> None:
    line = await to_others(SAYS, provider={"context_tokens": 9_000})
    assert await turn(line.model, await completed()) == "A cat."
    (_, message) = line.server.requests[0].body["messages"]
    image, document, text = message["content"]
    assert image == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}
    file = {"filename": "plan.pdf", "file_data": f"data:application/pdf;base64,{PLAN}"}
    assert document == {"type": "file", "file": file}
    assert text["text"].endswith("text\n```\n\nWhat is it?")


async def test_a_prompt_that_stands_in_the_users_message_comes_before_the_files(to_others: Callable[..., Any]) -> None:
    line = await to_others(SAYS * 2, refuses={"system_prompt"})
    assert await turn(line.model, await completed()) == "A cat."
    (message,) = line.server.requests[-1].body["messages"]
    assert message["content"][0]["text"].endswith("\n\n# The user's message")
    assert [part["type"] for part in message["content"]] == ["text", "image_url", "file", "text"]


async def test_a_model_without_eyes_is_an_error_that_says_so(to_others: Callable[..., Any]) -> None:
    line = await to_others(SAYS, refuses={"files"})
    with pytest.raises(ModelError) as raised:
        await turn(line.model, await completed())
    fault = raised.value.fault
    assert (
        fault.message
        == "The language model does not take the attached files. Choose another model, or ask without them."
    )
    assert fault.cause == "The model takes no such files (This model does not support image input)."


async def test_the_embedded_model_says_that_it_cannot_see_them() -> None:
    said = await turn(OfflineModel(), ASKED)
    assert said.startswith(
        "I cannot see what is attached (cat.png, plan.pdf, note.txt): I only search texts. With `ANTH"
    )
    assert "I cannot see" not in await turn(OfflineModel(), ModelRequest("", ({"role": "user", "content": "Hello"},)))


async def test_a_run_goes_on_with_its_files_in_another_process(url: str) -> None:
    begun = await until_killed(url, [says("It is ", hang=True)], said="It is", ask={"attachments": tuple(BLOCKS)})
    async with restarted(url, [answers("a cat.")]) as it:
        assert (await it.told(begun)).done["termination_reason"] == "completed"
        (request,) = requests(it)
    assert request.messages[0]["content"][:3] == BLOCKS


def test_files_count_in_the_size_of_messages_and_whole_ones_alone_in_a_history() -> None:
    exchange = [
        ConversationMessage("user", "Q", "", {"attachments": BLOCKS}),
        ConversationMessage("assistant", "A", ""),
    ]
    for room, can_attach, kept in ((6_100, True, BLOCKS), (6_000, True, [BLOCKS[0], BLOCKS[2]]), (9_000, False, [])):
        asked, _ = history_for_model(exchange, most_tokens=room, can_attach=can_attach).messages
        shown = [] if isinstance(asked["content"], str) else asked["content"][:-1]
        assert shown == kept
        assert Transcript.of([], "Q", shown).unsent_characters >= 4 * sum(each["tokens"] for each in shown)
        assert Transcript.of([asked], "Q").unsent_characters >= 4 * sum(each["tokens"] for each in shown)
