"""What retention has deleted, between two readings of a client, is gone in the form of each protocol."""

from typing import Any

import pytest

from oracle.runs.record.figures import LogFigures
from oracle.testing import ScriptedTurn
from tests.oracle.server.api.conftest import Service

PARTS = {"id": "u", "role": "user", "parts": [{"type": "text", "text": "Where?"}]}
SAID = {"id": "u", "role": "user", "content": "Where?"}
INPUT: dict[str, Any] = {
    "responses": {"model": "oracle", "input": "Where?"},
    "ai_sdk": {"id": "chat-1", "messages": [PARTS]},
    "ag_ui": {"threadId": "t-1", "runId": "r-1", "messages": [SAID], "tools": [], "context": []},
}
PATHS = {"responses": "/v1/responses", "ai_sdk": "/api/chat", "ag_ui": "/agui"}
AFTER: dict[str, dict[tuple[str, str], tuple[int, Any]]] = {
    "responses": {
        ("GET", "/v1/responses/resp_{run}"): (404, None),
        ("GET", "/v1/responses/resp_{run}?stream=true"): (404, None),
        ("GET", "/v1/responses/resp_{run}?stream=true&starting_after=3"): (404, None),
        ("GET", "/v1/responses/resp_{run}/input_items"): (404, None),
        ("POST", "/v1/responses/resp_{run}/cancel"): (404, None),
        ("DELETE", "/v1/responses/resp_{run}"): (404, None),
        ("POST", "/v1/responses"): (404, {"model": "oracle", "input": "?", "previous_response_id": "resp_{run}"}),
    },
    "ai_sdk": {  # its client takes 204 for: nothing is there
        ("GET", "/api/chat/chat-1/stream"): (204, None),
        ("GET", "/api/chat/chat-1/stream?after=2"): (204, None),
        ("POST", "/api/chat"): (
            410,
            {"id": "chat-1", "messages": [PARTS, PARTS | {"id": "{run}", "role": "assistant"}]},
        ),
    },
    "ag_ui": {
        ("GET", "/agui/threads/t-1"): (410, None),
        ("POST", "/agui"): (410, INPUT["ag_ui"] | {"resume": [{"interruptId": "{run}.1", "status": "cancelled"}]}),
    },
}


def filled(value: Any, run: str) -> Any:
    if isinstance(value, dict):
        return {name: filled(each, run) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, run) for each in value]
    return value.replace("{run}", run) if isinstance(value, str) else value


async def sweep(service: Service) -> None:
    assert await service.parts.store.retention.drop_texts(older_than_s=-60.0, new_reducer=LogFigures)


@pytest.mark.parametrize("protocol", AFTER)
async def test_what_is_read_again_is_gone(start, protocol):
    service = await start([ScriptedTurn(text="In login.py.")])
    first = await service.client.post(PATHS[protocol], json=INPUT[protocol])
    assert "In login.py." in first.text
    await sweep(service)
    for (method, path), (status, body) in AFTER[protocol].items():
        run = first.headers["X-Run-Id"]
        answer = await service.client.request(method, filled(path, run), json=filled(body, run))
        assert (answer.status_code, "login" in answer.text) == (status, False), f"{method} {path}: {answer.text}"
        assert bool(answer.text) == (status != 204)


async def test_a_client_that_still_has_what_was_said_goes_on_with_that(start):
    service = await start([ScriptedTurn(text="In login.py."), ScriptedTurn(text="In logout.py.")])
    first = (await service.client.post(PATHS["responses"], json=INPUT["responses"])).json()
    await sweep(service)
    items = [{"role": "user", "content": "Where?"}, *first["output"], {"role": "user", "content": "And the end?"}]
    second = await service.client.post(PATHS["responses"], json={"model": "oracle", "input": items})
    assert second.status_code == 200, second.text
    assert "In login.py." in str(service.model.requests[1].messages)
