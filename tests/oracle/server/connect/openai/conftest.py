"""A client that speaks chat completions."""

import json
from typing import Any

import pytest

from tests.oracle.server.api.conftest import Service

COMPLETIONS = "/v1/chat/completions"


def chunks_of(body: bytes) -> list[Any]:
    """The data of each event; the last one is `[DONE]`."""
    events = [event for event in body.split(b"\n\n") if event and not event.startswith(b":")]
    assert all(event.startswith(b"data: ") for event in events)
    assert events[-1] == b"data: [DONE]"
    return [json.loads(event[6:]) for event in events[:-1]]


def text_of(chunks: list[Any]) -> str:
    """The content of chunks, joined."""
    return "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk.get("choices", ()))


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


async def post(service: Service, *messages: Any, headers: dict[str, str] | None = None, **body: Any) -> Any:
    """Ask for a completion."""
    asked = {"model": "oracle", "messages": list(messages), **body}
    return await service.client.post(COMPLETIONS, json=asked, headers=headers)


async def run_count(service: Service, **options: Any) -> int:
    """How many runs the caller has."""
    return len((await service.client.get("/api/runs", **options)).json()["runs"])


@pytest.fixture
def database_url():
    """SQLite alone: the tests of the store show what differs in PostgreSQL."""
    return
