"""The next question of a conversation whose run waits for a person, in each protocol: what is open is named."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from oracle.testing import ScriptedTurn
from tests.oracle.server.api.asking import write_trees
from tests.oracle.server.api.test_parked import WRITES, parked


class Protocol(NamedTuple):
    """How a client asks, and reads a refusal.

    Args:
        body: asks a tree "hello"; or the next question, after an answer with this text.
        form: a refusal with this message.
    """

    path: str
    body: Callable[[str, str, str | None], Mapping[str, Any]]
    form: Callable[[str], Any]


def _messages(answer: str, then: str | None) -> list[tuple[str, str]]:
    return [("user", "hello"), *([] if then is None else [("assistant", answer), ("user", then)])]


def _conflict(message: str) -> Mapping[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": "conflict"}}


PROTOCOLS = {
    "chat completions": Protocol(
        "/v1/chat/completions",
        lambda tree, answer, then: {
            "model": tree,
            "messages": [{"role": role, "content": text} for role, text in _messages(answer, then)],
        },
        _conflict,
    ),
    "responses": Protocol(
        "/v1/responses",
        lambda tree, _, then: {"model": tree, "input": then or "hello", "conversation": "chat-1"},
        _conflict,
    ),
    "AI SDK": Protocol(
        "/api/chat",
        lambda tree, answer, then: {
            "id": "chat-1",
            "tree": tree,
            "messages": [
                {"id": f"m-{n}", "role": role, "parts": [{"type": "text", "text": text}]}
                for n, (role, text) in enumerate(_messages(answer, then))
            ],
        },
        lambda message: message,
    ),
    "AG-UI": Protocol(
        "/agui",
        lambda tree, answer, then: {
            "threadId": "chat-1",
            "runId": "run-1" if then is None else "run-2",
            "messages": [
                {"id": f"m-{n}", "role": role, "content": text}
                for n, (role, text) in enumerate(_messages(answer, then))
            ],
            "forwardedProps": {"tree": tree},
        },
        lambda message: {"message": message, "code": 409, "where": []},
    ),
}


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=list(PROTOCOLS))
@pytest.mark.parametrize(("tree", "answer"), [("approval", "I write. "), ("question", "")])
async def test_a_question_while_a_person_is_asked_is_a_conflict_that_names_what_is_open(
    start, tmp_path, protocol, tree, answer
):
    write_trees(tmp_path)
    service = await start([*WRITES, ScriptedTurn(text="Another.")])
    first = await service.client.post(protocol.path, json=protocol.body(tree, answer, None))
    assert first.status_code == 200, first.text
    [waiting] = (await service.client.get("/api/oracle/pending")).json()["pending"]
    run = await parked(service, waiting["run_id"])
    refused = await service.client.post(protocol.path, json=protocol.body(tree, answer, "And?"))
    assert refused.status_code == 409, refused.text
    said = refused.text if refused.headers["content-type"].startswith("text/plain") else refused.json()
    interrupt = waiting["interrupt"]
    names = f"vault_write, {interrupt['id']}" if tree == "approval" else interrupt["id"]
    assert said == protocol.form(
        f"The conversation waits for a person: {interrupt['message']!r} ({names}). Answer in the console "
        f"or by POST /api/oracle/runs/{run.id}/deliveries, or cancel the run."
    )
    assert (await service.parts.store.runs.find(run.id)).status == "parked", "it waits as before"
    await service.client.post(f"/api/oracle/runs/{run.id}/cancel")
    after = await service.client.post(protocol.path, json=protocol.body("oracle", answer, "And?"))
    assert after.status_code == 200, after.text
    assert len((await service.client.get("/api/oracle/conversations")).json()["conversations"]) == 1
