from dataclasses import replace

import httpx2
import pytest
from opentelemetry._logs import Logger, LoggerProvider, _internal
from structlog.testing import capture_logs

from oracle.core.logs import configure_logging
from oracle.decision import decision_trees
from oracle.runs.options import RunOptions
from oracle.server.api.app import build_app
from oracle.server.api.replies import Me
from oracle.server.settings.fields import DEFAULT_MODEL
from tests.oracle.server.api.conftest import ALICE, HANGS, OLGA, TOKENS, running_service


async def test_a_healthy_service_is_ready_without_a_token(guarded):
    assert (await guarded.client.get("/healthz")).json() == {"status": "ok"}
    assert (await guarded.client.get("/readyz")).json() == {"status": "ready"}


async def test_metrics_count_runs_and_streams(service):
    streamed = await service.ask()
    await service.resume(streamed.run_id)
    response = await service.client.get("/metrics")
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    figures = dict(line.rsplit(" ", 1) for line in response.text.splitlines() if not line.startswith("#"))
    assert float(figures['oracle_runs_ended_total{reason="completed",tree="oracle"}']) == 1
    assert float(figures["oracle_streams_opened_total"]) == 2
    assert float(figures["oracle_streams_active"]) == 0


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/docs/oauth2-redirect", "/favicon.ico", "/api", "/api/nothing"])
async def test_what_is_not_there_is_a_404_in_json(guarded, path):
    response = await guarded.client.get(path, headers=ALICE)
    assert (response.status_code, response.json()) == (404, {"detail": "Not Found"})


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/api/settings/agent-config", "GET, PUT"),
        ("POST", "/api/oracle/conversations/x", "GET, PATCH, DELETE"),
        ("GET", "/api/oracle", "POST"),
        ("DELETE", "/healthz", "GET, HEAD"),
    ],
)
async def test_a_405_lists_the_allowed_methods(service, method, path, allowed):
    response = await service.client.request(method, path)
    assert (response.status_code, response.headers["allow"]) == (405, allowed)


async def test_an_unexpected_error_is_a_500_without_details(service):
    app = build_app(service.parts)

    @app.get("/broken")
    async def broken():
        raise ZeroDivisionError("a secret of ours")

    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        response = await client.get("/broken")
    assert (response.status_code, response.json()) == (500, {"detail": "An internal error; it has been logged."})
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_a_service_that_still_loads_what_queries_need_answers_and_is_not_ready(service):
    app = build_app(replace(service.parts, is_prepared=lambda: False))
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        ready = await client.get("/readyz")
        assert (ready.status_code, ready.headers["retry-after"]) == (503, "1")
        assert ready.json() == {"detail": "starting: still loading what every run needs."}
        assert (await client.get("/healthz")).status_code == 200
        answered = await client.post("/api/oracle", json={"question": "Where?"})
    assert answered.json()["termination_reason"] == "completed"


async def test_while_interrupted_runs_are_being_ended_the_service_answers_and_is_not_ready(start, tmp_path):
    async with running_service(tmp_path, [HANGS]) as service, service.asking() as streamed:
        await streamed.until("It begins")
        run_id = streamed.run_id
    service = await start(options=RunOptions(claim_at_once=0))
    ready = await service.client.get("/readyz")
    assert (ready.status_code, ready.headers["retry-after"]) == (503, "1")
    assert ready.json()["detail"].startswith("recovering: 1 ")
    assert (await service.client.get("/healthz")).status_code == 200
    run = (await service.client.get(f"/api/oracle/runs/{run_id}")).json()
    assert run["status"] == "running"
    busy = await service.client.post("/api/oracle", json={"question": "x", "context_id": run["context_id"]})
    assert busy.status_code == 409
    assert (await service.ask()).done["termination_reason"] == "completed"


async def test_probes_are_logged_only_when_they_fail(service):
    configure_logging("debug")
    with capture_logs() as logs:
        for path in ("/healthz", "/readyz", "/metrics"):
            await service.client.get(path)
        assert {each["log_level"] for each in logs if each["event"] == "request.finished"} == {"debug"}
        service.parts.runs.is_draining = True
        await service.client.get("/readyz")
    assert (logs[-1]["event"], logs[-1]["log_level"], logs[-1]["status"]) == ("request.finished", "info", 503)


async def test_the_texts_of_a_request_reach_no_telemetry_of_the_process(service, monkeypatch):
    recorded = []

    class Recording(Logger):
        def emit(self, *args, **options):
            recorded.append((args, options))

    class Provider(LoggerProvider):
        def get_logger(self, name, *args, **options):
            return Recording(name)

    monkeypatch.setattr(_internal, "_LOGGER_PROVIDER", Provider())
    response = await service.client.post("/api/oracle", json={"question": 5, "private": "words"})
    assert response.status_code == 422
    assert recorded == []


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
async def test_head_is_answered_like_get_without_a_body(service, path):
    got, head = await service.client.get(path), await service.client.head(path)
    assert (head.status_code, head.content) == (got.status_code, b"")
    for name in ("content-type", "cache-control", "x-content-type-options"):
        assert head.headers.get(name) == got.headers.get(name)
    if path != "/metrics":  # its figures have changed meanwhile
        assert head.headers["content-length"] == got.headers["content-length"]


async def test_head_of_a_service_that_is_not_ready_is_a_503(service):
    service.parts.runs.is_draining = True
    response = await service.client.head("/readyz")
    assert (response.status_code, response.headers["retry-after"]) == (503, "5")


@pytest.mark.parametrize(("who", "told"), [(ALICE, ("alice", False)), (OLGA, ("olga", True))])
async def test_me_names_the_caller(guarded, who, told):
    me = (await guarded.client.get("/api/me", headers=who)).json()
    assert (me["user_id"], me["is_operator"], me["can_debug"]) == (*told, False)


async def test_me_says_what_a_question_may_choose(start, tmp_path):
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "brief.yaml").write_text("tree: brief\ndescription: In one word.\nroot: llm_turn\n", encoding="utf-8")
    (folder / "part.yaml").write_text("tree: part\ninternal: true\nroot: llm_turn\n", encoding="utf-8")
    (folder / "wrong.yaml").write_text("tree: wrong\nroot: [", encoding="utf-8")
    service = await start(tokens=TOKENS, models=("claude-b",), trees_folder=folder)
    me = (await service.client.get("/api/me", headers=ALICE)).json()
    assert Me.model_validate(me).model_dump(mode="json") == me
    assert (me["provider"], me["models"], me["any_model"]) == ("anthropic", [DEFAULT_MODEL, "claude-b"], False)
    assert me["sources"] == ["code", "vault", "thread"]
    assert [each["about"] for each in me["suggestions"]] == ["code", "notes", "threads", "code"]
    assert me["suggestions"][0]["question"] == "Where does this program begin?"
    assert me["tree"] == "oracle"
    assert {"name": "brief", "description": "In one word."} in me["trees"]
    assert {"part", "wrong"}.isdisjoint(tree["name"] for tree in me["trees"])
    assert str(tmp_path) not in str(me)
    registered = decision_trees().keys() - {"default"}  # by other tests of this process
    for tree in (each for each in me["trees"] if each["name"] not in registered):
        assert (await service.ask(tree=tree["name"], headers=ALICE)).done["termination_reason"] == "completed"


async def test_where_the_offline_model_answers_no_model_can_be_chosen(start):
    service = await start(provider_answers=False)
    me = (await service.client.get("/api/me")).json()
    assert (me["provider"], me["models"], me["any_model"]) == ("offline", [], False)


async def test_me_says_which_features_the_service_has(start):
    service = await start(features=("-usage",))
    has = (await service.client.get("/api/me")).json()["features"]
    assert "shadow" in has
    assert "usage" not in has
    assert (await service.client.get("/api/usage")).status_code == 404


async def test_where_models_are_not_listed_any_may_be_named(start):
    me = (await (await start()).client.get("/api/me")).json()
    assert me["any_model"]
    assert len(me["models"]) == 1


async def test_without_auth_everybody_is_the_local_operator(start):
    service = await start()
    assert (await service.client.get("/api/me")).json()["user_id"] == "local"
