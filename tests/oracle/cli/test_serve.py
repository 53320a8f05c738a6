"""`oracle serve` as a process: its output, its refusals, its end."""

import asyncio
import json
import re
import signal

import httpx2
import pytest

from oracle.cli.serving import _announce
from oracle.server.process.process import Listening
from oracle.server.settings.table import settings_table
from oracle.testing import ScriptedTurn
from tests.support.provider import Disturbed, StandInProvider

HANGS = Disturbed(ScriptedTurn(text="So far so good."), "hang")


async def listening(process):
    """The address that a service prints when it listens."""
    async with asyncio.timeout(60):
        line = await process.stdout.readline()
    found = re.fullmatch(rb"Oracle is listening on (http://127\.0\.0\.1:\d+)\n", line)
    assert found, line + await process.stderr.read()
    return found[1].decode()


def test_what_the_operator_should_know_of_the_model_is_a_line_of_the_announcement(capsys):
    about = {"url": "http://127.0.0.1:8000", "control": "tree", "store": "SQLite", "auth": "none"}
    _announce(Listening(**about, model="tiny/m", note="tiny/m has a context of 8,192 tokens"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == [
        "  model: tiny/m, control: tree, data: SQLite, auth: none",
        "  note: tiny/m has a context of 8,192 tokens",
    ]


@pytest.mark.long("starts a service")
async def test_it_prints_its_address_and_configuration_and_ends_with_0(start, project, tmp_path):
    process = await start("serve", "--port", "0", "--project", project, "--data-dir", tmp_path / "data")
    url = await listening(process)
    how = await process.stdout.readline()
    assert how == (
        b"  model: offline-extractive, control: tree, data: SQLite, auth: none (one user, this machine only)\n"
    )
    assert (await process.stdout.readline()).decode() == (
        f"  next: open {url}/ in a browser; Ctrl-C here ends the service\n"
    )
    async with httpx2.AsyncClient(base_url=url, timeout=30) as client:
        answered = await client.post("/api/oracle", json={"question": "Where is the function check_password?"})
    assert "check_password" in answered.json()["answer"]
    assert (tmp_path / "data" / "oracle.db").exists()
    process.send_signal(signal.SIGTERM)
    out, err = await process.communicate()
    assert (process.returncode, out) == (0, b"")
    events = [json.loads(line) for line in err.splitlines()]
    (finished,) = [each for each in events if each["event"] == "run.finished"]
    assert (finished["run_id"], finished["user_id"]) == (answered.json()["run_id"], "local")
    assert (events[-2]["event"], events[-1]["event"]) == ("service.stopping", "service.stopped")


@pytest.mark.long("starts the command line as a process")
async def test_no_token_and_no_text_of_a_user_is_in_the_log(start, tmp_path, monkeypatch):
    monkeypatch.setenv("ORACLE_TOKENS", "hush-token-0123456789=anna")
    monkeypatch.setenv("ORACLE_JWT_SECRET", "hush-secret-" + "0" * 32)
    process = await start("serve", "--port", "0", "--data-dir", tmp_path / "data")
    url = await listening(process)
    async with httpx2.AsyncClient(base_url=url, timeout=30) as client:
        good = {"Authorization": "Bearer hush-token-0123456789"}
        answered = await client.post("/api/oracle", json={"question": "hush-question, thanks!"}, headers=good)
        assert answered.status_code == 200
        bad = await client.get("/api/runs", headers={"Authorization": "Bearer hush-guess"})
        assert bad.status_code == 401
        await client.get("/api/runs?token=hush-query", headers=good)
    process.send_signal(signal.SIGINT)
    out, err = await process.communicate()
    assert process.returncode == 0
    assert b"hush" not in out + err


@pytest.mark.long("starts the command line as a process")
async def test_a_second_ctrl_c_ends_it_at_once(start, provided, tmp_path, monkeypatch):
    monkeypatch.setenv("ORACLE_DRAIN_S", "3600")
    async with StandInProvider([HANGS]) as provider:
        provided(provider)
        process = await start("serve", "--port", "0", "--data-dir", tmp_path / "data")
        url = await listening(process)
        async with (
            httpx2.AsyncClient(base_url=url, timeout=30) as client,
            client.stream("POST", "/api/oracle/stream", json={"question": "Hello"}) as stream,
        ):
            async for line in stream.aiter_lines():
                if "good." in line:
                    break
            process.send_signal(signal.SIGINT)
            await process.stderr.readuntil(b"service.stopping")
            process.send_signal(signal.SIGINT)
            async with asyncio.timeout(20):
                assert await process.wait() == 128 + signal.SIGINT


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (
            ["--host", "0.0.0.0"],
            {},
            "without authentication the service listens on loopback only, not on '0.0.0.0'; set ORACLE_JWT_SECRET",
        ),
        (["--project", "none"], {}, "set --project or ORACLE_PROJECT_DIR to one that does"),
        (["--trees", "none"], {}, "the folder of trees 'none' does not exist; set ORACLE_TREES_DIR"),
        (["--vault", "none"], {}, "set --vault or ORACLE_VAULT_DIR to one that does"),
        (
            [],
            {"ORACLE_MODLE": "hush", "ORACLE_PROJECT": "hush"},
            "did you mean ORACLE_MODEL?\nORACLE_PROJECT is not a setting",
        ),
        ([], {"ORACLE_TOKENS": "hush"}, "entry 1 of ORACLE_TOKENS is without a =; entries are token=user"),
        ([], {"ORACLE_DATABASE_URL": "mysql://me:hush@db/x"}, "ORACLE_DATABASE_URL must be postgresql://"),
    ],
    ids=["open door", "project", "trees", "vault", "misspelt", "tokens", "database"],
)
def test_a_reason_not_to_start_is_reported_in_one_message(oracle, monkeypatch, arguments, environment, message):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ran = oracle("serve", "--port", "0", *arguments)
    assert ran.code == 1
    assert ran.out == ""
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert "hush" not in ran.err


def test_mistakes_in_the_default_tree_keep_it_from_starting(oracle, tmp_path):
    (tmp_path / "oracle.yaml").write_text("tree: oracle\nroot:\n  sequence: [llm_trun]\n")
    ran = oracle("serve", "--port", "0", "--trees", tmp_path)
    assert ran.code == 1
    assert ran.out == ""
    assert "oracle.yaml:3:14: there is no node kind 'llm_trun'" in ran.err
    assert "did you mean 'llm_turn'?" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.long("starts the command line as a process")
async def test_an_unusable_proxy_is_reported_in_one_message(start, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "hush")
    monkeypatch.setenv("HTTPS_PROXY", "foo://proxy.example.com")
    process = await start("ask", "Hello")
    async with asyncio.timeout(60):
        _, err = await process.communicate()
    assert process.returncode == 1
    assert err.startswith(b"Error: the model provider cannot be used as configured")
    assert err.count(b"\n") == 1


def test_the_help_lists_every_setting(oracle):
    ran = oracle("serve", "--help")
    assert all(row.name in ran.out for row in settings_table())
