import asyncio
import json

import pytest

from oracle.llm.protocol import ModelFault
from oracle.runs.options import RunOptions
from oracle.testing import ScriptedCall, ScriptedModel, ScriptedTurn
from tests.oracle.server.api.conftest import HANGS, in_shared_loop

GUARD_S = 20
WHOLE_FIELDS = {
    "answer", "sources", "system_messages", "tokens_used", "model_used", "context_id", "run_id", "termination_reason",
}  # fmt: skip
SEARCH = ScriptedTurn(
    text="Let me look. ", tool_calls=(ScriptedCall("search_code", {"query": "def log_in"}),), piece_chars=3
)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "login.py").write_text('"""How users log in."""\n\ndef log_in(user):\n    return user\n')
    return tmp_path


async def test_a_streamed_query_names_its_run_and_sends_everything_in_order(start, project):
    service = await start([SEARCH, ScriptedTurn(text="In login.py.", piece_chars=2)])
    streamed = await service.ask("Where in the code is the login function?")
    headers = streamed.response.headers
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["cache-control"] == "no-store"
    assert headers["x-accel-buffering"] == "no"
    assert headers["location"] == f"/api/oracle/runs/{streamed.run_id}"
    assert streamed.ids == list(range(1, len(streamed.ids) + 1))
    assert {"content", "tool_call", "source", "tool_result", "done"} == set(streamed.types)
    assert streamed.done["run_id"] == streamed.run_id
    assert streamed.done["termination_reason"] == "completed"
    assert streamed.text == "Let me look. \n\nIn login.py."


async def test_a_whole_answer_has_all_fields_and_no_error(service):
    response = await service.client.post("/api/oracle", json={"question": "hello"})
    told = response.json()
    assert response.status_code == 200
    assert told.keys() >= WHOLE_FIELDS
    assert "error" not in told
    assert response.headers["x-run-id"] == told["run_id"]
    assert told["termination_reason"] == "completed"


async def test_a_whole_answer_has_the_notifications_as_they_were_streamed(start):
    service = await start([ScriptedTurn(text='On. <signal type="need_turn"><reason>r</reason></signal>')])
    whole = (
        await service.client.post("/api/oracle", json={"question": "hello", "limits": {"max_iterations": 2}})
    ).json()
    streamed = await service.ask("hello", limits={"max_iterations": 2})
    notices = [chunk for chunk in streamed.chunks if chunk["type"] == "system"]
    assert whole["system_messages"] == notices
    assert [notice["system_type"] for notice in notices] == ["limit_warning", "limit_reached"]
    assert whole["answer"].endswith("Stopped: iteration limit reached (2/2).")


async def test_a_run_that_failed_is_answered_whole_with_its_error(start):
    fault = ModelFault("provider_failed", "the provider is down")
    service = await start([ScriptedTurn(text="I was about to", fault=fault)])
    response = await service.client.post("/api/oracle", json={"question": "hello"})
    told = response.json()
    assert response.status_code == 200
    assert told["termination_reason"] == "error"
    assert told["error_type"] == "provider_failed"
    assert "the provider is down" in told["error"]
    assert told["answer"].startswith("I was about to\n\nStopped: ")


async def test_a_conversation_goes_on_by_its_context_id(service):
    first = await service.ask("hello", project_id="shop")
    context_id = first.done["context_id"]
    second = await service.ask("hello again", context_id=context_id)
    assert second.done["context_id"] == context_id
    kept = (await service.client.get(f"/api/oracle/conversations/{context_id}")).json()
    assert kept["project_id"] == "shop"
    assert [each["content"] for each in kept["messages"]] == ["hello", "Hello.", "hello again", "Hello."]
    assert [message["content"] for message in service.model.requests[-1].messages][:2] == ["hello", "Hello."]


@pytest.mark.parametrize("call", ["/api/oracle", "/api/oracle/stream"])
@pytest.mark.parametrize("context_id", ["never-was", "", "a" * 10_000, "../x", "a/b", "%00", "nul\0", "\ud800", "übel"])
@in_shared_loop
async def test_a_conversation_that_is_not_there_is_a_404(shared, call, context_id):
    content = json.dumps({"question": "hello", "context_id": context_id})
    response = await shared.client.post(call, content=content, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()) == (404, {"detail": "There is no such conversation."})


async def test_a_conversation_that_is_answering_is_a_409(start):
    service = await start([HANGS, ScriptedTurn(text="Hello.")])
    async with service.asking("hello") as streamed:
        await streamed.until("here")
        status = await service.client.get(f"/api/oracle/runs/{streamed.run_id}")
        body = {"question": "and?", "context_id": status.json()["context_id"]}
        for call in ("/api/oracle", "/api/oracle/stream"):
            assert (await service.client.post(call, json=body)).status_code == 409
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()
    assert (await service.client.post("/api/oracle", json=body)).json()["answer"] == "Hello."


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        pytest.param({}, ["body", "question"], id="no question"),
        pytest.param({"question": ""}, ["body", "question"], id="empty"),
        pytest.param({"question": " \n\t "}, ["body", "question"], id="blank"),
        pytest.param({"question": "a" * 20_001}, ["body", "question"], id="too long"),
        pytest.param({"question": 5}, ["body", "question"], id="a number"),
        pytest.param({"question": None}, ["body", "question"], id="null"),
        pytest.param({"question": ["x"]}, ["body", "question"], id="a list"),
        pytest.param({"question": "a\0b"}, ["body", "question"], id="NUL"),
        pytest.param({"question": "q", "answer": "a"}, ["body", "answer"], id="unknown field"),
        pytest.param({"question": "q", "user_id": "bob"}, ["body", "user_id"], id="another user"),
        pytest.param({"question": "q", "tree": "nope"}, ["body", "tree"], id="unknown tree"),
        pytest.param({"question": "q", "tree": "../../etc/passwd"}, ["body", "tree"], id="a path for a tree"),
        pytest.param({"question": "q", "tree": "a\0b"}, ["body", "tree"], id="NUL in a tree"),
        pytest.param({"question": "q", "tree": "a" * 10_000}, ["body", "tree"], id="a long tree"),
        pytest.param({"question": "q", "model": ""}, ["body", "model"], id="empty model"),
        pytest.param({"question": "q", "model": "claude-unknown"}, ["body", "model"], id="unknown model"),
        pytest.param({"question": "q", "context_id": 7}, ["body", "context_id"], id="a number for a context"),
        pytest.param({"question": "q", "project_id": "a" * 201}, ["body", "project_id"], id="a long label"),
        pytest.param({"question": "q", "limits": []}, ["body", "limits"], id="a list of limits"),
        pytest.param({"question": "q", "limits": {"x": 1}}, ["body", "limits", "x"], id="unknown limit"),
        pytest.param(
            {"question": "q", "limits": {"max_iterations": 51}},
            ["body", "limits", "max_iterations"],
            id="too many turns",
        ),
        pytest.param(
            {"question": "q", "limits": {"timeoutSeconds": 9}}, ["body", "limits", "timeout_seconds"], id="camelCase"
        ),
        pytest.param(
            {"question": "q", "limits": {"token_budget": "5000"}}, ["body", "limits", "token_budget"], id="a text"
        ),
        pytest.param(
            {"question": "q", "limits": {"token_budget": 5000.5}}, ["body", "limits", "token_budget"], id="half"
        ),
        pytest.param(
            {"question": "q", "limits": {"token_budget": True}}, ["body", "limits", "token_budget"], id="true"
        ),
        pytest.param(
            {"question": "q", "limits": {"token_budget": None}}, ["body", "limits", "token_budget"], id="null"
        ),
    ],
)
@in_shared_loop
async def test_a_wrong_field_is_a_422_with_its_location(shared, body, loc):
    for call in ("/api/oracle", "/api/oracle/stream"):
        response = await shared.client.post(call, json=body)
        assert response.status_code == 422
        told = [mistake["loc"] for mistake in response.json()["detail"]]
        assert loc in told
        assert len(response.content) < 2_000
    assert shared.model.requests == []
    assert (await shared.client.get("/api/runs")).json()["runs"] == []


async def test_a_wrong_limit_is_reported_with_field_value_and_bounds(service):
    response = await service.client.post("/api/oracle", json={"question": "q", "limits": {"maxIterations": 0}})
    (mistake,) = response.json()["detail"]
    assert mistake["msg"] == "max_iterations must be a whole number from 1 to 50, not 0"


async def test_limits_of_a_request_go_over_the_users_own_and_under_the_operators(start):
    service = await start(max_token_budget=30_000)
    await service.client.put("/api/settings/agent-config", json={"max_iterations": 9, "timeout_seconds": 50})
    streamed = await service.ask("hello", limits={"maxIterations": 4, "token_budget": 40_000})
    limits = (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()["limits"]
    assert limits["max_iterations"] == 4
    assert limits["timeout_seconds"] == 50
    assert limits["token_budget"] == 30_000
    assert limits["max_parallel_tools"] == 3


async def test_a_model_can_be_named_where_a_provider_answers(start):
    service = await start(models=("claude-other",))
    streamed = await service.ask("hello", model="claude-other")
    assert streamed.done["model_used"] == "claude-other"
    assert service.model.requests[-1].model == "claude-other"


async def test_no_model_can_be_named_where_the_embedded_one_answers(start):
    service = await start(provider_answers=False)
    response = await service.client.post("/api/oracle", json={"question": "hello", "model": "anything"})
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["body", "model"]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{", id="half an object"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="deep"),
        pytest.param(b'{"question":' + b"[" * 90_000 + b"]" * 90_000 + b"}", id="deep in a field"),
        pytest.param(b'{"question": NaN}', id="NaN"),
        pytest.param(b'{"question": "q", "limits": {"token_budget": Infinity}}', id="infinity"),
        pytest.param(b'{"question": ' + b"9" * 5_000 + b"}", id="a huge number"),
        pytest.param(b'{"question": ' + b"9" * 4_000 + b"}", id="a large number"),
        pytest.param(b'{"question": "q", "limits": {"token_budget": ' + b"9" * 4_000 + b"}}", id="a large limit"),
        pytest.param(b'{"question": "\\ud800"}', id="half a surrogate"),
        pytest.param(b'{"\\ud800": 1, "question": "q"}', id="half a surrogate for a name"),
        pytest.param(b'{"question": "q", "tree": "\\udfff"}', id="half a surrogate in a tree"),
        pytest.param(b'{"question": "q", "project_id": "\\udfff"}', id="half a surrogate in a label"),
        pytest.param(b'{"question": "q", "limits": {"\\udfff": 1}}', id="half a surrogate for a limit"),
        pytest.param(b'{"question": "q", "model": "\\ud800"}', id="half a surrogate in a model"),
        pytest.param(b'{"question": "q", "limits": {"max_iterations": 3, "maxIterations": 4}}', id="a limit twice"),
        pytest.param(b'{"question": "q", "question": ""}', id="a field twice"),
        pytest.param(b'\xef\xbb\xbf{"question": ""}', id="a mark of the byte order"),
        pytest.param(b'{"question": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001, id="deep objects"),
        pytest.param(b"NaN", id="NaN alone"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"question": "q", "\\u0000": 1}', id="NUL for a name"),
        pytest.param(b'{"question": "\xff\xfe"}', id="not UTF-8"),
        pytest.param(b'"hello"', id="a text alone"),
        pytest.param(b"null", id="null"),
        pytest.param(b"{" + b",".join(b'"%d": 1' % n for n in range(20_000)) + b"}", id="many fields"),
    ],
)
@in_shared_loop
async def test_a_hostile_body_is_refused_in_few_words(shared, content):
    headers = {"Content-Type": "application/json"}
    for method, path in (
        ("POST", "/api/oracle"),
        ("POST", "/api/oracle/stream"),
        ("PUT", "/api/settings/agent-config"),
    ):
        response = await shared.client.request(method, path, content=content, headers=headers)
        assert response.status_code in (400, 422)
        assert response.json()["detail"]
        assert len(response.content) < 20_000
    assert shared.model.requests == []


@in_shared_loop
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
async def test_a_body_that_does_not_say_that_it_is_json_is_refused(shared, kind):
    content, headers = b'{"question": "hello"}', {"Content-Type": kind}
    response = await shared.client.post("/api/oracle", content=content, headers=headers)
    assert response.status_code == 422
    assert "Content-Type: application/json" in response.json()["detail"][0]["msg"]
    assert shared.model.requests == []


async def test_a_service_that_is_stopping_takes_no_queries_and_leaves_those_it_has(start):
    service = await start([HANGS], options=RunOptions(drain_s=0.0))
    async with service.asking("hello") as streamed:
        await streamed.until("here")
        await service.parts.runs.drain()
        refused = await service.client.post("/api/oracle", json={"question": "q"})
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) > 0
        assert (await service.client.get("/readyz")).status_code == 503
        assert (await service.client.get("/healthz")).status_code == 200
        left = await service.parts.store.runs.find(streamed.run_id)
    assert left is not None
    assert (left.status, left.worker) == ("queued", "")  # the next start goes on with it


@pytest.mark.parametrize("call", ["/api/oracle/stream", "/api/oracle"])
async def test_a_run_whose_client_has_gone_is_cancelled_after_the_grace_time(start, call):
    model = WatchedModel([HANGS])
    service = await start(model=model, options=RunOptions(reader_grace_s=0.0))
    asking = asyncio.create_task(_read_on(service, call))
    await model.asked.wait()
    asking.cancel()
    async with asyncio.timeout(GUARD_S):
        await model.left.wait()
        run_id = (await service.client.get("/api/runs")).json()["runs"][0]["run_id"]
        resumed = await service.resume(run_id)
    assert resumed.done["termination_reason"] == "user_cancelled"
    assert resumed.text == "It begins here "


async def test_a_run_goes_on_while_one_of_its_readers_is_there(start):
    gate = asyncio.Event()
    turns = [ScriptedTurn(text='One. <signal type="need_turn"><reason>r</reason></signal>')]
    service = await start(
        model=ScriptedModel([*turns, ScriptedTurn(text="Two.", delay_s=1)], sleep=lambda _: gate.wait()),
        options=RunOptions(reader_grace_s=0.0),
    )
    async with service.asking("hello") as first:
        await first.until("One.")
        async with service.resuming(first.run_id) as second:
            await second.until("One.")
            await first.response.aclose()
            gate.set()
            await second.rest()
    assert second.done["termination_reason"] == "completed"
    assert second.text == "One. \n\nTwo."


async def test_a_run_that_needs_no_reader_is_told_of_at_once_and_outlives_its_readers(start, database_url):
    gate = asyncio.Event()
    service = await start(
        model=ScriptedModel([ScriptedTurn(text=("One ", "two."), delay_s=1)], sleep=lambda _: gate.wait()),
        options=RunOptions(reader_grace_s=0.0),
        url=database_url,
    )
    begun = await service.client.post("/api/oracle/runs", json={"question": "hello"})
    told = begun.json()
    assert (begun.status_code, told["status"], told["question"]) == (202, "running", "hello")
    assert begun.headers["location"] == f"/api/oracle/runs/{told['run_id']}"
    assert begun.headers["x-run-id"] == told["run_id"]
    async with service.resuming(told["run_id"]):
        pass  # a reader comes and leaves, and there is no grace time
    gate.set()
    read = await service.resume(told["run_id"])
    assert (read.text, read.done["termination_reason"]) == ("One two.", "completed")


async def test_a_run_that_needs_no_reader_is_refused_and_counted_like_any_other(start):
    service = await start([HANGS], runs_per_user=1)
    for body, status in (
        ({}, 422),
        ({"question": "q", "tree": "none"}, 422),
        ({"question": "q", "context_id": "x"}, 404),
    ):
        assert (await service.client.post("/api/oracle/runs", json=body)).status_code == status
    first = (await service.client.post("/api/oracle/runs", json={"question": "q"})).json()
    assert (await service.client.post("/api/oracle/runs", json={"question": "q"})).status_code == 429
    busy = {"question": "q", "context_id": first["context_id"]}
    assert (await service.client.post("/api/oracle/runs", json=busy)).status_code in {409, 429}
    await service.client.post(f"/api/oracle/runs/{first['run_id']}/cancel")
    assert (await service.resume(first["run_id"])).done["termination_reason"] == "user_cancelled"


async def _read_on(service, call):
    async with service.client.stream("POST", call, json={"question": "hello"}) as response:
        async for _ in response.aiter_raw():
            pass


class WatchedModel(ScriptedModel):
    """Says when it is asked, and when the asker has left."""

    def __init__(self, turns):
        super().__init__(turns)
        self.asked = asyncio.Event()
        self.left = asyncio.Event()

    async def stream(self, request):
        self.asked.set()
        try:
            async for event in super().stream(request):
                yield event
        finally:
            self.left.set()


@pytest.mark.parametrize("tree", ["nope", "../" + "x" * 190])
@in_shared_loop
async def test_an_unknown_tree_is_named_in_the_422(shared, tree):
    response = await shared.client.post("/api/oracle", json={"question": "q", "tree": tree})
    assert response.status_code == 422
    assert response.json()["detail"][0]["input"] == tree
