"""`oracle ask` with the real SDK against a provider that fails in many ways."""

import json

import pytest

from oracle.agent.answering import Ask
from oracle.cli.asking import show_answer
from oracle.cli.errors import FAILED
from oracle.cli.interrupts import Interrupts
from oracle.llm.protocol import Usage
from oracle.server.settings.reading import read_settings
from oracle.server.wiring.agent import open_oracle
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.support.provider import Disturbed, HttpError, StandInProvider

NOT_AGAIN = {"x-should-retry": "false"}
SAID = ScriptedTurn(text=("The first half. ", "The second half."))


async def ask(question="Hello", *, model=None, as_json=False):
    async with open_oracle(read_settings()) as oracle:
        return await show_answer(oracle, Ask(question, model=model), interrupts=Interrupts(), as_json=as_json)


async def test_an_answer_of_the_provider_is_shown_with_its_tokens_and_model(capfd, provided):
    turn = ScriptedTurn(text="All is well.", usage=Usage(input_tokens=100, output_tokens=20))
    async with StandInProvider([turn]) as provider:
        provided(provider)
        assert await ask() == 0
    out, err = capfd.readouterr()
    assert out == "All is well.\n"
    assert err.startswith("completed · 1 turn · 120 tokens · claude-sonnet-5-5 · ")


async def test_a_model_is_requested_by_its_name(capfd, provided):
    async with StandInProvider([SAID]) as provider:
        provided(provider)
        assert await ask(model="claude-haiku-5-5") == 0
        assert provider.bodies[0]["model"] == "claude-haiku-5-5"
    assert "claude-haiku-5-5" in capfd.readouterr().err


async def test_tools_of_the_provider_and_the_agent_are_shown_with_results(capfd, provided, project, monkeypatch):
    monkeypatch.setenv("ORACLE_PROJECT_DIR", str(project))
    turns = [
        ScriptedTurn(tool_calls=(ScriptedCall("read_file", {"path": "nothing.py"}),)),
        ScriptedTurn(text="There is none."),
    ]
    async with StandInProvider(turns) as provider:
        provided(provider)
        assert await ask("How does the login function in login.py work?") == 0
    assert '✗ read_file(path="nothing.py") · ' in capfd.readouterr().err


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        pytest.param(
            HttpError("authentication_error", "invalid x-api-key"), "Check ANTHROPIC_API_KEY.", id="401 wrong key"
        ),
        pytest.param(HttpError("not_found_error", "model: x"), "Choose another with ORACLE_MODEL", id="404 model"),
        pytest.param(HttpError("rate_limit_error", "slow down", headers=NOT_AGAIN), "Try again", id="429"),
        pytest.param(HttpError("api_error", "oops", headers=NOT_AGAIN), "Please ask again.", id="500"),
        pytest.param(HttpError("overloaded_error", "busy", headers=NOT_AGAIN), "overloaded", id="529"),
        pytest.param(HttpError("api_error", status=502, body="<html>", headers=NOT_AGAIN), "502", id="a proxy's page"),
        pytest.param(HttpError("invalid_request_error", "prompt is too long"), "too long", id="too long"),
    ],
)
async def test_a_refusal_of_the_provider_is_reported_with_a_correction(capfd, provided, reply, message):
    async with StandInProvider([reply]) as provider:
        provided(provider, key="sk-secret-key")
        assert await ask() == FAILED
    out, err = capfd.readouterr()
    assert out.startswith("Stopped: ")
    assert message in err
    assert err.splitlines()[-1].startswith("error · 0 turns")
    assert "sk-secret-key" not in out + err
    assert "Traceback" not in err


@pytest.mark.parametrize("how", ["reset", "early_end", "error_event"])
async def test_text_from_before_the_connection_was_lost_is_kept(capfd, provided, how):
    async with StandInProvider([Disturbed(SAID, how)]) as provider:
        provided(provider)
        assert await ask() == FAILED
    out, err = capfd.readouterr()
    assert out.startswith("The first half. The second half.\n\nStopped: ")
    assert "error: " in err


async def test_a_failure_as_json_ends_with_done(capfd, provided):
    async with StandInProvider([Disturbed(SAID, "reset")]) as provider:
        provided(provider)
        assert await ask(as_json=True) == FAILED
    out, err = capfd.readouterr()
    chunks = [json.loads(line) for line in out.splitlines()]
    assert [chunk["type"] for chunk in chunks[-3:]] == ["content", "content", "done"]
    assert chunks[-1]["termination_reason"] == "error"
    assert [chunk["error_type"] for chunk in chunks if chunk["type"] == "error"] == ["provider_failed"]
    assert [json.loads(line)["event"] for line in err.splitlines()] == ["query.failed"], "for the operator"


def test_an_address_without_a_key_is_said_and_the_log_is_text_for_a_person(oracle, monkeypatch):
    monkeypatch.setenv("ORACLE_LLM", "auto")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    ran = oracle("ask", "Hello")
    assert (ran.code, "ANTHROPIC_BASE_URL is set and no key, so the embedded model answers" in ran.err) == (0, True)
    assert '{"' not in ran.err
