import json

import pytest

from oracle.decision import AgentConfig
from oracle.server.api.app import describe_service
from tests.oracle.server.api.conftest import ALICE, TOKENS, in_shared_loop

CALLS = {
    ("post", "/api/oracle/stream"): {200, 404, 409, 410},
    ("post", "/api/oracle"): {200, 404, 409, 410},
    ("post", "/api/oracle/runs"): {202, 404, 409, 410},
    ("get", "/api/oracle/runs/{run_id}/stream"): {200, 204, 404, 410},
    ("get", "/api/oracle/runs/{run_id}"): {200, 404},
    ("post", "/api/oracle/runs/{run_id}/cancel"): {202, 404},
    ("post", "/api/oracle/runs/{run_id}/feedback"): {200, 404, 410},
    ("get", "/api/oracle/runs/{run_id}/source"): {200, 404},
    ("get", "/api/oracle/conversations"): {200, 404},
    ("get", "/api/oracle/conversations/{context_id}"): {200, 404},
    ("patch", "/api/oracle/conversations/{context_id}"): {200, 404},
    ("post", "/api/oracle/conversations/{context_id}/fork"): {201, 404},
    ("delete", "/api/oracle/conversations/{context_id}"): {204, 404, 409},
    ("get", "/api/settings/agent-config"): {200},
    ("put", "/api/settings/agent-config"): {200},
    ("post", "/api/settings/agent-config/reset"): {200},
    ("get", "/api/runs"): {200, 404},
    ("get", "/api/runs/{run_id}/ticks"): {200, 404, 410},
    ("get", "/api/runs/{run_id}/ticks/stream"): {200, 204, 404, 410},
    ("get", "/api/runs/{run_id}/signals"): {200, 404, 410},
    ("get", "/api/runs/{run_id}/history"): {200, 404, 410},
    ("get", "/api/runs/{run_id}/tree"): {200, 404, 410},
    ("get", "/api/runs/{run_id}/turns"): {200, 404, 410},
    ("get", "/api/runs/{run_id}/compare"): {200, 404, 410},
    ("get", "/api/runs/{run_id}/export"): {200, 404, 410},
    ("get", "/api/runs/{run_id}/debug"): {200, 404, 409},
    ("post", "/api/runs/{run_id}/debug"): {202, 404, 409},
    ("get", "/api/debug/breakpoints"): {200, 409},
    ("post", "/api/debug/breakpoints"): {201, 409},
    ("patch", "/api/debug/breakpoints/{breakpoint_id}"): {200, 404, 409},
    ("delete", "/api/debug/breakpoints/{breakpoint_id}"): {204, 404, 409},
    ("get", "/api/trees"): {200},
    ("post", "/api/trees/check"): {200, 409},
    ("post", "/api/trees/complete"): {200},
    ("post", "/api/trees/hover"): {200},
    ("post", "/api/trees/definition"): {200},
    ("post", "/api/trees/compare"): {200, 404, 409},
    ("post", "/api/trees/test"): {200, 404, 409},
    ("post", "/api/trees/verify"): {200, 404, 409},
    ("post", "/api/trees/explain"): {200, 404, 409},
    ("get", "/api/trees/{name}"): {200, 404},
    ("put", "/api/trees/{name}"): {200, 404, 409},
    ("get", "/api/trees/{name}/answers"): {200, 404},
    ("get", "/api/trees/{name}/versions"): {200, 404},
    ("get", "/api/trees/{name}/versions/{sha}"): {200, 404},
    ("post", "/api/trees/{name}/versions/{sha}/restore"): {200, 404, 409},
    ("get", "/api/shadow/report"): {200},
    ("get", "/api/shadow/pairs"): {200},
    ("get", "/api/oracle/pending"): {200},
    ("post", "/api/oracle/runs/{run_id}/deliveries"): {200, 404, 409, 410},
    ("get", "/api/oracle/grants"): {200},
    ("delete", "/api/oracle/grants/{grant_id}"): {204, 404},
    ("get", "/api/me"): {200},
    ("get", "/api/usage"): {200},
    ("get", "/api/me/spending"): {200},
    ("get", "/api/spending"): {200},
    ("put", "/api/spending"): {200, 404},
    ("delete", "/api/spending"): {200, 404},
    ("post", "/api/attachments"): {201, 415},
    ("get", "/api/attachments/{attachment_id}"): {200, 404},
    ("delete", "/api/attachments/{attachment_id}"): {204, 404},
    ("get", "/api/tool-servers"): {200},
    ("get", "/healthz"): {200},
    ("get", "/readyz"): {200, 503},
    ("get", "/metrics"): {200},
}
ANYWHERE = {400, 401, 403, 408, 413, 422, 429, 500, 503}


@in_shared_loop
async def test_the_schema_has_every_call_and_every_answer_of_it(shared):
    schema = (await shared.client.get("/openapi.json")).json()
    found = {(method, path): call for path, calls in schema["paths"].items() for method, call in calls.items()}
    assert found.keys() == CALLS.keys()
    for (method, path), statuses in CALLS.items():
        expected = statuses | (ANYWHERE if path.startswith("/api/") else set())
        told = {int(status) for status in found[method, path]["responses"]}
        assert told == expected | {422}, (method, path)
        assert found[method, path]["summary"]


@pytest.mark.parametrize(("tokens", "is_there"), [(None, False), (TOKENS, True)], ids=["without auth", "with auth"])
async def test_a_token_is_asked_for_where_one_is_needed(start, tokens, is_there):
    service = await start(tokens=tokens)
    schema = (await service.client.get("/openapi.json", headers=ALICE)).json()
    guarded = {
        "security" in call
        for path, calls in schema["paths"].items()
        for call in calls.values()
        if path.startswith("/api/")
    }
    assert guarded == {is_there}
    assert "security" not in schema["paths"]["/healthz"]["get"]
    if is_there:
        (scheme,) = schema["components"]["securitySchemes"].values()
        assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")


@in_shared_loop
async def test_the_schema_can_be_had_without_a_service(shared):
    assert (await shared.client.get("/openapi.json")).json() == json.loads(json.dumps(describe_service()))


@in_shared_loop
async def test_settings_that_are_read_have_all_limits(shared):
    schemas = (await shared.client.get("/openapi.json")).json()["components"]["schemas"]
    limits = set(AgentConfig.model_fields)
    assert set(schemas["ConfigValues"]["required"]) == limits
    assert set(schemas["AgentSettings"]["required"]) == limits | {"effective", "capped", "fields", "tree"}
    assert "required" not in schemas["Limits"]


@in_shared_loop
async def test_limits_are_described_with_their_bounds_and_no_defaults(shared):
    schema = (await shared.client.get("/openapi.json")).json()
    limit = schema["components"]["schemas"]["Limits"]["properties"]["token_budget"]
    assert (limit["type"], limit["minimum"], limit["maximum"]) == ("integer", 1_000, 200_000)
    assert "default" not in limit
    assert limit["description"]
