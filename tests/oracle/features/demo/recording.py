"""Records the ten runs that `oracle demo` shows: played through the real service, with a model that follows a script.

    python -m tests.oracle.features.demo.recording

It writes `oracle/features/demo/recorded.json.gz`: the files of the project and of the trees, and the rows of the
tables. Needed again when a column that these rows need has changed; the tests of the feature say so.
"""

import asyncio
import contextlib
import gzip
import json
import shutil
import socket
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oracle.features.demo.loading import RECORDED
from oracle.llm.protocol import Usage
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.acceptance.scripts import SUFFICIENT, signal_xml
from tests.oracle.features.demo import story
from tests.service.queries import PATIENCE_S
from tests.service.server import Client, Server, serving
from tests.support.provider import Disturbed, HttpError, Reply
from tests.support.waiting import until

LEFT_OUT = {"alembic_version", "worker", "command", "history", "service_key", "tree_trial", "webhook", "request_key"}
MODELS = {"ORACLE_MODEL": story.MODEL, "ORACLE_MODELS": f"{story.MODEL},{story.SECOND_MODEL}"}


def turn(text: str = "", *calls: ScriptedCall, tokens: int = 2_400, thinking: str = "", s: float = 0.4) -> ScriptedTurn:
    written = 30 + len(text) // 3
    usage = Usage(input_tokens=tokens - written, output_tokens=written)
    return ScriptedTurn(text=text, thinking=thinking, tool_calls=calls, usage=usage, delay_s=s, piece_chars=40)


def call(name: str, **arguments: Any) -> ScriptedCall:
    return ScriptedCall(name, arguments)


def done(text: str, *, tokens: int = 3_600) -> ScriptedTurn:
    return turn(text + SUFFICIENT, tokens=tokens, s=0.7)


def look(*words: str) -> ScriptedTurn:
    """A turn that searches for each of these."""
    return turn("", *(call("search_code", query=each, limit=5) for each in words))


def read(path: str, text: str = "") -> ScriptedTurn:
    return turn(text, call("read_file", path=path), tokens=2_900)


async def record(folder: Path) -> None:
    """Play all runs in a service with its data in this folder."""
    async with serving(folder, **MODELS) as server:
        await server.stop()
        furnish(server)
        await server.start()
        async with contextlib.aclosing(Client(server)) as client:
            await play_first(server, client)
        await crash(server)
        async with contextlib.aclosing(Client(server)) as client:
            await play_last(server, client)
        await server.stop()
        server.settings["ORACLE_CONTROL"] = "shadow"
        await server.start()
        async with contextlib.aclosing(Client(server)) as client:
            await shadow(server, client)
        await server.stop()


def furnish(server: Server) -> None:
    """The project and the trees of the story, in place of those of the tests."""
    shutil.rmtree(server.project)
    for name, text in story.FILES.items():
        path = server.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


async def ask(server: Server, client: Client, question: str, *replies: Reply, reason: str, **body: Any) -> None:
    assert server.desk is not None
    server.desk.play(*replies)
    heard = await client.ask(question, **body)
    assert heard.reason == reason, (question, heard.reason, heard.answer)


async def play_first(server: Server, client: Client) -> None:
    """The long conversation, the limit, the loop, the fallback."""
    assert server.desk is not None
    server.desk.play(turn(story.SUMMARY, tokens=4_100), done(story.LONG_ANSWER))
    messages = [{"role": role, "content": text} for role, text in story.LONG_CONVERSATION]
    asked = {"model": "long", "messages": messages}
    response = await client.http.post("/v1/chat/completions", json=asked)
    assert response.status_code == 200, response.text
    assert not server.desk._script.replies, "no summary was asked for"
    await ask(
        *(server, client, story.LIMIT),
        *(look("send_mail"), look("reminder"), read("lantern/mail.py"), look("notify")),
        reason="max_iterations",
        limits={"max_iterations": 4},
    )
    await ask(
        *(server, client, story.LOOP),
        *(look("audiobook fine") for _ in range(5)),
        reason="no_progress",
    )
    stuck = signal_xml("stuck", attempted="searched for duplicate", blocker="no line of the code sends twice")
    await ask(
        *(server, client, story.FALLBACK),
        look("reminder duplicate"),
        turn("Nothing in the code sends a reminder twice." + stuck),
        turn("", call("read_file", path="lantern/reminders.py"), call("read_file", path="lantern/mail.py")),
        done(story.FALLBACK_ANSWER),
        reason="completed",
    )


async def play_last(server: Server, client: Client) -> None:
    """What people decide, the second model, and the normal answer."""
    note = call("vault_write", path="renewals.md", body=story.NOTE)
    await decided(server, client, story.APPROVAL, "careful", {"decision": "approve"}, turn("", note), turn("Written."))
    await decided(
        *(server, client, story.QUESTION, "asking", {"decision": "answer", "answer": "2.1"}),
        *(look("changelog release"), turn(story.QUESTION_ANSWER)),
    )
    overloaded = HttpError("overloaded_error", "Overloaded")
    await ask(
        *(server, client, story.SECOND, overloaded, turn(story.SECOND_ANSWER)), reason="completed", tree="second_model"
    )
    await ask(
        *(server, client, story.NORMAL),
        turn("I will look for the lending periods.", call("search_code", query="lending period days", limit=5)),
        read("lantern/loans.py"),
        done(story.NORMAL_ANSWER),
        reason="completed",
    )


async def decided(
    server: Server, client: Client, question: str, tree: str, decision: dict[str, Any], *replies: Reply
) -> None:
    """A run that waits for a person, who decides."""
    assert server.desk is not None
    server.desk.play(*replies)
    async with client.stream(question, tree=tree) as stream:
        await stream.until(lambda heard: bool(heard.of("approval_requested") or heard.of("question")))
        (waiting,) = (await client.http.get("/api/oracle/pending")).json()["pending"]
        response = await client.http.post(
            f"/api/oracle/runs/{stream.run_id}/deliveries", json={"id": waiting["interrupt"]["id"]} | decision
        )
        assert response.status_code == 200, response.text
        await stream.rest()
        assert stream.reason == "completed", stream.answer


async def crash(server: Server) -> None:
    """A process that is killed in the second turn; another one goes on with the run."""
    assert server.desk is not None
    second = read("lantern/holds.py", "The holds are kept in one module; I will read it.")
    server.desk.play(look("hold returned"), Disturbed(second, "hang"))
    client = Client(server)
    async with client.stream(story.CRASH) as stream:
        await stream.until(lambda heard: "one module" in heard.answer)
        run_id = stream.run_id
        await server.kill()
    await client.aclose()
    server.desk.play(second, done(story.CRASH_ANSWER))
    await server.start()
    async with contextlib.aclosing(Client(server)) as client:
        heard = await client.resumed(run_id)
        assert heard.reason == "completed", heard.answer


async def shadow(server: Server, client: Client) -> None:
    """A question that the plain loop answers otherwise than the tree."""
    assert server.desk is not None
    server.desk.play(
        *(look("card lost"), done(story.SHADOWED_ANSWER)),
        *(look("card lost"), read("docs/desk.md"), turn(story.SHADOW_ANSWER)),
    )
    await client.ask(story.SHADOWED)

    async def is_compared() -> bool:
        report = (await client.http.get("/api/shadow/report")).json()
        return bool(report["pairs"]) and not report["running"]

    await until(is_compared, guard_s=PATIENCE_S)


def rows(file: Path) -> dict[str, dict[str, Sequence[Any]]]:
    """The rows of all tables that have some: by table, the columns and the rows."""
    with contextlib.closing(sqlite3.connect(file)) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
        found = {}
        for name in names:
            cursor = database.execute(f'SELECT * FROM "{name}"')
            kept = [list(row) for row in cursor]
            if kept and name not in LEFT_OUT and not name.startswith("sqlite_"):
                found[name] = {"columns": [column for column, *_ in cursor.description], "rows": kept}
    return found


def write(data: Path) -> None:
    (file,) = data.glob("*.db")
    kept = {"files": story.FILES, "tables": rows(file)}
    encoded = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    encoded = encoded.replace(f'"{socket.gethostname()}-', '"worker-')  # the names of workers begin with it
    RECORDED.write_bytes(gzip.compress(encoded.encode(), mtime=0))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(record(Path(name)))
        write(Path(name) / "data")
