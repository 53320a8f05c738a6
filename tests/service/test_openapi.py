"""The running service against its own description: no 5xx, and answers as `/openapi.json` says (schemathesis)."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import pytest_asyncio
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode, checks
from schemathesis.specs.openapi import checks as conformance

from tests.acceptance.scripts import answers
from tests.oracle.server.api.test_openapi import CALLS
from tests.service.provider import Desk
from tests.service.server import Client, Server

pytestmark = pytest.mark.asyncio(loop_scope="session")

CHECKS: list[Any] = [
    checks.not_a_server_error,
    conformance.status_code_conformance,
    conformance.content_type_conformance,
    conformance.response_headers_conformance,
    conformance.response_schema_conformance,
]


@pytest_asyncio.fixture(loop_scope="session")
async def names(client: Client, desk: Desk):
    """The names of a run and of its conversation; the provider refuses whatever is asked after it."""
    desk.play(answers("Yes."))
    heard = await client.ask()
    yield {"run_id": heard.run_id, "context_id": heard.done["context_id"]}
    await client.http.post("/api/settings/agent-config/reset")


async def test_the_description_is_valid_openapi_3_1(stranger: Client) -> None:
    described = (await stranger.http.get("/openapi.json")).json()
    assert described["openapi"].startswith("3.1.")
    schemathesis.openapi.from_dict(described).validate()


@pytest.mark.long("hundreds of generated requests")
async def test_whatever_is_sent_there_is_no_5xx_and_answers_conform(
    local_server: Server, names: dict[str, str]
) -> None:
    await asyncio.to_thread(attack, local_server.url, names, examples=4)


@pytest.mark.soak
async def test_whatever_is_sent_for_long_there_is_no_5xx_and_answers_conform(
    local_server: Server, names: dict[str, str]
) -> None:
    await asyncio.to_thread(attack, local_server.url, names, examples=600)


def attack(url: str, names: dict[str, str], *, examples: int) -> None:
    """Send every call so many requests that fit its description, and as many that do not."""
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    done: set[tuple[GenerationMode, str]] = set()
    for result in schema.get_all_operations():
        operation = result.ok()
        for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
            send = _sender(operation.as_strategy(generation_mode=mode), url, names, examples)
            try:
                send()
            except Unsatisfiable:
                assert mode is GenerationMode.NEGATIVE  # where any text is right nothing can be wrong
            else:
                done.add((mode, f"{operation.method} {operation.path}"))
    assert {call for mode, call in done if mode is GenerationMode.POSITIVE} == {f"{one} {path}" for one, path in CALLS}
    assert {"post /api/oracle", "put /api/settings/agent-config", "get /api/runs"} <= {
        call for mode, call in done if mode is GenerationMode.NEGATIVE
    }


def _sender(cases: st.SearchStrategy[Any], url: str, names: dict[str, str], examples: int) -> Callable[[], None]:
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases, is_real=st.booleans())
    def send(case: Any, is_real: bool) -> None:
        # A name that exists goes into the path of half of the requests; else all would be told 404.
        if is_real and case.path_parameters:
            case.path_parameters = {name: names.get(name, value) for name, value in case.path_parameters.items()}
        response = case.call(base_url=url, timeout=30)
        case.validate_response(response, checks=CHECKS)

    return send
