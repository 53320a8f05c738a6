"""Two users of one service: nothing of one can be reached, told apart from nothing, or changed by the other."""

import pytest

from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, TOKENS

MISSING = "0123456789abcdef0123456789abcdef"
CALLS = [
    ("GET", "/api/oracle/runs/{run}", None),
    ("GET", "/api/oracle/runs/{run}/stream", None),
    ("GET", "/api/oracle/runs/{run}/stream?after=0", None),
    ("GET", "/api/oracle/runs/{run}/stream?after=999999", None),
    ("GET", "/api/oracle/runs/{run}/source?path=login.py&source_type=code", None),
    ("POST", "/api/oracle/runs/{run}/cancel", None),
    ("POST", "/api/oracle/runs/{run}/deliveries", {"id": "i1", "decision": "approve"}),
    ("POST", "/api/oracle/runs/{run}/feedback", {"rating": "up", "text": "{context}"}),
    ("POST", "/api/oracle/runs/{run}/feedback", {"rating": None}),
    ("GET", "/api/runs/{run}/ticks", None),
    ("GET", "/api/runs/{run}/signals", None),
    ("GET", "/api/runs/{run}/ticks?reasons=true", None),
    ("GET", "/api/runs/{run}/ticks/stream", None),
    ("GET", "/api/runs/{run}/ticks/stream?after=999999", None),
    ("GET", "/api/runs/{run}/history", None),
    ("GET", "/api/runs/{run}/history?after=999999&head=true", None),
    ("GET", "/api/runs/{run}/tree", None),
    ("GET", "/api/runs/{run}/turns", None),
    ("GET", "/api/runs?before={run}", None),
    ("GET", "/api/runs?before={run}&counts=true&search=secret", None),
    ("GET", "/api/oracle/conversations/{context}", None),
    ("POST", "/api/oracle/conversations/{context}/fork", {}),
    ("POST", "/api/oracle/conversations/{context}/fork", {"before_run": "{run}"}),
    ("DELETE", "/api/oracle/conversations/{context}", None),
    ("POST", "/api/oracle", {"question": "What was said?", "context_id": "{context}"}),
    ("POST", "/api/oracle/stream", {"question": "What was said?", "context_id": "{context}"}),
]
UNNAMED = [
    ("GET", "/api/runs", None),
    ("GET", "/api/settings/agent-config", None),
    ("PUT", "/api/settings/agent-config", {}),
    ("POST", "/api/settings/agent-config/reset", None),
]

FILTERS = [
    {"search": "secret"},
    {"search": "s"},
    {"user": "alice"},
    {"user": "alice", "search": "secret"},
    {"context_id": "{context}"},
    {"context_id": "{context}", "user": "alice"},
    {"slow": "0"},
    {"status": "running"},
    {"status": "finished"},
    {"reason": "completed"},
    {"tree": "oracle"},
    {"since": "2000-01-01"},
    {"feedback": "down"},
    {"feedback": "down", "user": "alice"},
]
NONE = {"runs": [], "next": None, "counts": {"total": 0, "by_reason": {}, "is_complete": True}}


async def sent(service, call, *, run, context, headers):
    method, path, body = call
    if body is not None:
        body = {name: value and value.format(run=run, context=context) for name, value in body.items()}
    return await service.client.request(method, path.format(run=run, context=context), json=body, headers=headers)


def told(response):
    """All that a client learns."""
    headers = {name: value for name, value in response.headers.items() if name not in ("date", "x-request-id")}
    return response.status_code, response.content, headers


async def check_hidden(service, **names):
    for call in CALLS:
        foreign = await sent(service, call, **names, headers=BOB)
        missing = await sent(service, call, run=MISSING, context=MISSING, headers=BOB)
        assert foreign.status_code == 404, call
        assert told(foreign) == told(missing), call


@pytest.mark.parametrize("turns", [[], [HANGS]], ids=["ended", "running"])
async def test_anothers_is_answered_as_if_it_had_never_been(start, turns):
    service = await start(turns, tokens=TOKENS, requests_per_minute=200)
    async with service.asking("A secret of Alice's.", headers=ALICE) as streamed:
        await streamed.until("e")
        run = streamed.run_id
        rating = {"rating": "down", "text": "Alice's own words."}
        rated = await service.client.post(f"/api/oracle/runs/{run}/feedback", json=rating, headers=ALICE)
        assert rated.status_code == 200
        status = await service.client.get(f"/api/oracle/runs/{run}", headers=ALICE)
        context = status.json()["context_id"]
        await check_hidden(service, run=run, context=context)
        for params in ({}, *FILTERS):
            given = {name: value.format(context=context) for name, value in params.items()}
            found = await service.client.get("/api/runs", params=given, headers=BOB)
            assert (found.status_code, found.json()) == (200, NONE), params
        of_alice = (await service.client.get("/api/runs?feedback=down", headers=ALICE)).json()["runs"]
        assert [(run["run_id"], run["termination_reason"], run["feedback"]) for run in of_alice] == [
            (streamed.run_id, None if turns else "completed", rating)
        ]


async def test_anothers_that_was_forgotten_is_answered_so_too(start):
    service = await start(tokens=TOKENS, requests_per_minute=200)
    streamed = await service.ask("A secret of Alice's.", headers=ALICE)
    context = streamed.done["context_id"]
    assert (await service.client.delete(f"/api/oracle/conversations/{context}", headers=ALICE)).status_code == 204
    await check_hidden(service, run=streamed.run_id, context=context)


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer bobs-token"}], ids=["no token", "wrong token"])
async def test_without_a_valid_token_every_call_is_refused(guarded, headers):
    streamed = await guarded.ask(headers=ALICE)
    for call in [*CALLS, *UNNAMED]:
        response = await sent(
            guarded, call, run=streamed.run_id, context=streamed.done["context_id"], headers=headers or None
        )
        assert response.status_code == 401, call
        assert response.headers["www-authenticate"] == "Bearer"
        assert response.json().keys() == {"detail"}
        assert streamed.run_id not in response.text


async def test_two_headers_with_tokens_are_none(guarded):
    headers = [("Authorization", ALICE["Authorization"]), ("Authorization", BOB["Authorization"])]
    assert (await guarded.client.get("/api/runs", headers=headers)).status_code == 401
