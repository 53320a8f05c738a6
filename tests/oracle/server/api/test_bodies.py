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
