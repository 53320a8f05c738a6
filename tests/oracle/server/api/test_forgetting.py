"""Nothing that was said in a run is left when it is forgotten: every table and file is searched for a word."""

from pathlib import Path
from typing import Any

from sqlalchemy import insert, select

from oracle.runs.record.figures import LogFigures
from oracle.runs.storage import schema
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.features.debugging.test_calls import until
from tests.oracle.server.api.conftest import Service

WORD = "xylophone"
QUESTION = f"Where is the {WORD}? Is {WORD}: broken?"
TURNS = [
    ScriptedTurn(
        text=f"I look for the {WORD}. ",
        thinking=f"A {WORD}, then.",
        tool_calls=(
            ScriptedCall("search_code", {"query": WORD}),
            ScriptedCall("vault_write", {"path": f"{WORD}.md", "body": WORD}),
            ScriptedCall(WORD, {WORD: WORD}),
            ScriptedCall("read_file", {"path": f"{WORD}.txt"}),
            ScriptedCall("read_file", {"path": f"no-{WORD}.txt"}),
        ),
        piece_chars=7,
    ),
    ScriptedTurn(
        text=f"<signal type='stuck'><blocker>No {WORD}.</blocker><attempted>{WORD}</attempted></signal> {WORD}",
        late_thinking=f"Still no {WORD}.",
    ),
    ScriptedTurn(text=f'<signal type="{WORD}"><{WORD}>{WORD}</{WORD}></signal> {WORD}'),
    ScriptedTurn(
        text=f"The {WORD} is here. <signal type='context_sufficient'><sources_found>1</sources_found></signal>"
    ),
]


async def found_in(service: Service, folder: Path) -> dict[str, list[Any]]:
    """The rows and files that have the word."""
    found: dict[str, list[Any]] = {}
    database = service.parts.store.database
    for table in schema.metadata.sorted_tables:
        rows = await database.read(lambda connection, table=table: connection.execute(select(table)).all())
        having = [row for row in rows if WORD in str(row._asdict()).lower()]
        if having:
            found[table.name] = [str(each._asdict())[:1_000] for each in having]
    for path in folder.glob("oracle.db*"):  # noqa: ASYNC240  a small file
        if WORD.encode() in path.read_bytes().lower():
            found[path.name] = ["the file"]
    return found


async def a_run_with_the_word(start: Any, folder: Path, url: str | None) -> tuple[Service, Any]:
    (folder / f"{WORD}.txt").write_text(f"A file about the {WORD}.\n")
    service = await start(TURNS, debug=True, url=url)
    made = await service.client.post("/api/debug/breakpoints", json={"kind": "start"})
    async with service.asking(QUESTION, project_id=f"project {WORD}") as heard:
        await until(service, heard.run_id, "paused")
        debug = f"/api/runs/{heard.run_id}/debug"
        change = {"command": "set", "key": "hint", "value": f"Think of the {WORD}."}
        (await service.client.post(debug, json=change)).raise_for_status()
        mine = {"kind": "condition", "expression": f"question == '{WORD}'", "run_id": heard.run_id}
        (await service.client.post("/api/debug/breakpoints", json=mine)).raise_for_status()
        (await service.client.delete(f"/api/debug/breakpoints/{made.json()['id']}")).raise_for_status()
        (await service.client.post(debug, json={"command": "resume"})).raise_for_status()
        await heard.rest()
    return service, heard


async def test_after_a_conversation_is_deleted_nothing_of_it_is_left(
    start: Any, tmp_path: Path, database_url: str | None
) -> None:
    service, heard = await a_run_with_the_word(start, tmp_path, database_url)
    unread = {"run_id": heard.run_id, "kind": "debug", "data": {"value": WORD}, "at": 1.0}  # the run has ended before
    await service.parts.store.write(lambda connection: connection.execute(insert(schema.command), unread))
    before = await found_in(service, tmp_path)
    assert {"run", "event", "message", "conversation", "breakpoint", "command"} <= before.keys()
    answer = await service.client.delete(f"/api/oracle/conversations/{heard.done['context_id']}")
    assert answer.status_code == 204
    assert await found_in(service, tmp_path) == {}


async def test_figures_alone_have_nothing_of_what_was_said(
    start: Any, tmp_path: Path, database_url: str | None
) -> None:
    service, _ = await a_run_with_the_word(start, tmp_path, database_url)
    retention = service.parts.store.retention
    assert await retention.drop_texts(older_than_s=-60.0, new_reducer=LogFigures) == 1
    found = await found_in(service, tmp_path)
    assert found.keys() - {"oracle.db"} <= {"conversation", "message", "breakpoint"}, found
