"""Errors in a body are reported in bounded time and size, however many there are."""

import pytest
from pydantic import ValidationError

from oracle.server.api.bodies import Limits, QueryRequest, TitleChange
from oracle.testing import ScriptedModel, ScriptedTurn
from tests.oracle.server.api.conftest import in_shared_loop

MANY = {f"unknown-{number}": number for number in range(80_000)}


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        (QueryRequest, {"question": "hello"}),
        (Limits, {"max_iterations": 5}),
        (Limits, {"maxIterations": 5}),
        (TitleChange, {"title": "x"}),
    ],
)
def test_of_very_many_unknown_fields_a_bounded_number_is_looked_at(kind, known):
    for body in ({**MANY, **known}, {**known, **MANY}):
        with pytest.raises(ValidationError) as refused:
            kind.model_validate(body)
        mistakes = refused.value.errors()
        assert 30 <= len(mistakes) <= 50
        assert {each["type"] for each in mistakes} == {"extra_forbidden"}


def test_a_mistake_in_a_known_field_is_found_among_very_many_unknown_ones():
    with pytest.raises(ValidationError) as refused:
        QueryRequest.model_validate({**MANY, "question": 5, "limits": {**MANY, "token_budget": 1}})
    assert {("question",), ("limits", "token_budget")} <= {each["loc"] for each in refused.value.errors()}


@in_shared_loop
async def test_the_answer_to_very_many_unknown_fields_is_small(shared):
    for path, method in (("/api/oracle", "POST"), ("/api/settings/agent-config", "PUT")):
        response = await shared.client.request(method, path, json=dict.fromkeys(list(MANY)[:40_000], 0))
        assert response.status_code == 422
        assert len(response.json()["detail"]) == 30
        assert len(response.content) < 10_000


@pytest.mark.parametrize(
    "body",
    [
        b'{"question": "hello", "limits": {"maxIterations": 5.0}, "project_id": null}',
        b'{"question": "hello", "question": "hello again"}',
        b'{"question": ""}',
        b'{"question": "hello", "unknown": 1}',
        b'{"question": "hello", "limits": {"max_iterations": 99}}',
        b'{"question": "hello", "limits": {"max_iterations": 123456789012345678901234567890}}',
        b'{"question": "hello", "context_id": "../etc"}',
        b'{"question": "a\\ud800b"}',
        b'{"question": "hello"',
        b'{"question": NaN}',
        b'["hello"]',
        b"null",
        b"",
    ],
)
async def test_a_question_gets_the_same_answer_whoever_reads_it(start, body: bytes) -> None:
    """Plain JSON is read past FastAPI; a parameter of the media type is enough for FastAPI to read it."""
    service = await start(model=ScriptedModel([ScriptedTurn(text=("One.",))] * 2))
    answers = []
    for media_type in ("application/json", "application/json; read=fastapi"):
        answer = await service.client.post(
            "/api/oracle/runs", content=body, headers={"content-type": media_type, "Last-Event-ID": "0"}
        )
        if answer.status_code == 202:
            run = await service.parts.store.runs.find(answer.json()["run_id"])
            answers.append((202, run.input, run.limits))
            await service.resume(run.id)
        else:
            answers.append((answer.status_code, answer.json()))
    assert answers[0] == answers[1]
