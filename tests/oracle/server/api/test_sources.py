"""The texts behind citations: by the run that has cited them, by the rules of the tools, and nothing else."""

from urllib.parse import urlencode

import pytest

from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, OLGA, OPERATOR, TOKENS

SOURCE = "/api/oracle/runs/{run}/source?{query}"
READING = ScriptedTurn(
    text="Let me look.", tool_calls=(ScriptedCall("read_file", {"path": "login.py", "start_line": 40}),)
)
NOTES = ScriptedTurn(
    tool_calls=(ScriptedCall("vault_read", {"path": "plan"}), ScriptedCall("thread_read", {"thread": "standup"}))
)
ANSWER = ScriptedTurn(text="Here.")
QUESTION = "Where in the code is the login function?"
GONE = {"detail": "The run cited no such source, or it no longer exists."}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "login.py").write_text("".join(f"line {n}\n" for n in range(1, 101)), encoding="utf-8")
    (tmp_path / "other.py").write_text("secret = 1\n", encoding="utf-8")
    (tmp_path / "vault" / "threads").mkdir(parents=True)
    (tmp_path / "vault" / "plan.md").write_text("# Plan\n<script>alert(1)</script>\n", encoding="utf-8")
    (tmp_path / "vault" / "threads" / "standup.md").write_text("# Standup\n", encoding="utf-8")
    return tmp_path


async def read(service, run_id, *, headers=None, **query):
    query = {"source_type": "code", "path": "login.py", **query}
    return await service.client.get(SOURCE.format(run=run_id, query=urlencode(query)), headers=headers)


async def test_a_cited_source_is_read_around_its_line(start, files, database_url):
    service = await start([READING, ANSWER], url=database_url)
    streamed = await service.ask(QUESTION)
    response = await read(service, streamed.run_id, line=40, before=2, after=1)
    assert response.headers["content-type"] == "application/json"
    assert response.json() == {
        "run_id": streamed.run_id,
        "path": "login.py",
        "source_type": "code",
        "line": 40,
        "first_line": 38,
        "lines": ["line 38", "line 39", "line 40", "line 41"],
        "total_lines": 100,
        "is_exact": True,
        "is_whole": True,
    }


async def test_notes_and_threads_are_read_from_the_vault(start, files):
    service = await start([NOTES, ANSWER])
    streamed = await service.ask("What does the note about the plan say?")
    note = await read(service, streamed.run_id, source_type="vault", path="plan.md")
    assert note.json()["lines"] == ["# Plan", "<script>alert(1)</script>"]
    thread = await read(service, streamed.run_id, source_type="thread", path="threads/standup.md")
    assert thread.json()["lines"] == ["# Standup"]


@pytest.mark.parametrize(
    ("source_type", "path"),
    [
        ("code", "other.py"),
        ("vault", "login.py"),
        ("code", "./login.py"),
        ("code", "../login.py"),
        ("code", "/etc/passwd"),
    ],
)
async def test_what_was_not_cited_cannot_be_read(start, files, source_type, path):
    service = await start([READING, ANSWER])
    streamed = await service.ask(QUESTION)
    response = await read(service, streamed.run_id, source_type=source_type, path=path)
    assert (response.status_code, response.json()) == (404, GONE)


async def test_other_users_and_operators_cannot_read_what_a_run_has_cited(start, files):
    guarded = await start([READING, ANSWER], tokens=TOKENS | OPERATOR, operators=("olga",))
    streamed = await guarded.ask(QUESTION, headers=ALICE)
    assert (await read(guarded, streamed.run_id, headers=ALICE)).status_code == 200
    for who in (BOB, OLGA):
        response = await read(guarded, streamed.run_id, headers=who)
        assert (response.status_code, response.json()) == (404, {"detail": "There is no such run."})


async def test_while_the_answer_is_under_way_its_sources_are_read_from_the_stream(start, files):
    service = await start([READING, HANGS])
    async with service.asking(QUESTION) as streamed:
        await streamed.until("It begins")
        assert (await read(service, streamed.run_id)).status_code == 200
        assert (await read(service, streamed.run_id, path="other.py")).status_code == 404


async def test_a_source_that_has_gone_or_become_ignored_is_not_shown(start, files):
    service = await start([READING, ANSWER])
    streamed = await service.ask(QUESTION)
    (files / "login.py").unlink()
    assert (await read(service, streamed.run_id)).status_code == 404
    (files / "login.py").symlink_to("/etc/hosts")
    assert (await read(service, streamed.run_id)).status_code == 404


async def test_with_the_conversation_its_sources_are_forgotten(start, files):
    service = await start([READING, ANSWER])
    streamed = await service.ask(QUESTION)
    await service.client.delete(f"/api/oracle/conversations/{streamed.done['context_id']}")
    assert (await read(service, streamed.run_id)).status_code == 404


async def test_addresses_are_not_fetched(start):
    service = await start()
    streamed = await service.ask()
    response = await read(service, streamed.run_id, source_type="web", path="https://example.com/")
    assert response.status_code == 422
