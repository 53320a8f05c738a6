"""Recorded runs to look at: played through the real service with the stand-in provider, in some seconds.

    async with gallery(folder, pace=1.0) as it:
        it.runs["poll"]  # the id of the run "Why does the run loop never poll?"

`pace` is how long turns take, as a part of what they would take with a model: 1.0 for pictures, 0.0 for tests. All
questions are asked at nearly the same time; afterwards their times are moved into the past, so that the lists of runs
and conversations look like those of a working day and the day before.

`python -m tests.web.gallery` serves it, to be looked at.
"""

import argparse
import asyncio
import contextlib
import re
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from bt_runtime.text import iso
from oracle.testing import ScriptedTurn
from tests.service.server import HELD_FILE, Client, Server, serving
from tests.support.provider import Disturbed, Reply
from tests.web import gallery_scripts as scripts
from tests.web import gallery_trees as trees
from tests.web.built import REPOSITORY
from tests.web.stage import Stage

SETTINGS = {"ORACLE_REQUESTS_PER_MINUTE": "100000", "ORACLE_RUNS_PER_USER": "1000"}
PRICES = "currency: USD\nmodels:\n  '*': { input: 3, output: 15, cache_creation: 3.75, cache_read: 0.3 }\n"
LONG_TICKS = 2_000
_DAY_M = 24 * 60
_SHIPPED_DAYS_AGO = 9
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:Z|\+00:00)")
_PATIENCE_S = 180.0
"""A guard against a hang; dozens of runs are under way at the same time."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A run of the gallery.

    Args:
        name: under which it is found.
        question: what is asked.
        replies: what the model says, turn by turn.
        minutes_ago: when it began.
        tree: which is named.
        limits: of the query.
        saves: trees that are saved before it begins: name and text.
        cancels_in: the turn in which the user cancels.
    """

    name: str
    question: str
    replies: Sequence[Reply]
    minutes_ago: float
    tree: str = "oracle"
    limits: Mapping[str, int] = field(default_factory=dict)
    saves: Mapping[str, str] = field(default_factory=dict)
    cancels_in: int | None = None


@dataclass(frozen=True, slots=True)
class Gallery:
    """A service with recorded runs.

    Args:
        server: the service.
        client: its user.
        stage: what the provider says next, by question.
        runs: the ids of the runs, by the names of the exhibits.
        conversations: the ids of their conversations.
        pace: how long turns take; 1.0 is as long as with a model.
    """

    server: Server
    client: Client
    stage: Stage
    runs: Mapping[str, str]
    conversations: Mapping[str, str]
    pace: float


def exhibits() -> list[Exhibit]:
    """All of them, oldest first."""
    few, ten, thirty = {"max_iterations": 5}, {"max_iterations": 10}, {"max_iterations": 30}
    topics = {name: trees.topic(name) for name in trees.TOPICS}
    twice = [*scripts.OTHERS, *(f"{question[:-1]}, once more?" for question in scripts.OTHERS)]
    ordinary = [
        Exhibit(
            f"other-{number}",
            question,
            scripts.other(question, number),
            _DAY_M * 1.1 + 97 * number if number < 4 else 105 + 17 * number,
        )
        for number, question in enumerate(twice)
    ]
    shown = [
        Exhibit("long", scripts.LONG, (), 98, tree="long", saves={"long": trees.long(LONG_TICKS)}),
        Exhibit(
            "desk",
            scripts.REFUND,
            scripts.refund(),
            39,
            tree="desk",
            saves=topics | {"desk": trees.desk()},
            limits=thirty | {"token_budget": 150_000},
        ),
        Exhibit("error", scripts.CUT_OFF, scripts.cut_off(), 9, saves={"follow_signal": trees.risky_follow_signal()}),
        Exhibit(
            "thrifty",
            scripts.POLL,
            scripts.poll(),
            4.5,
            limits=ten,
            saves={"follow_signal": trees.shipped("follow_signal"), "fallback": trees.thrifty_fallback()},
        ),
        Exhibit("poll", scripts.POLL, scripts.poll(), 2, limits=ten, saves={"fallback": trees.shipped("fallback")}),
        Exhibit("tool-errors", scripts.NOTES, scripts.notes(), 85),
        Exhibit("overloaded", scripts.OVERLOADED, scripts.overloaded(), 54),
        Exhibit("cancelled", scripts.SLEEP, scripts.cancelled(), 43, limits=ten, cancels_in=3),
        Exhibit("no-progress", scripts.AUTH, scripts.auth(), 33),
        Exhibit("modules", scripts.MODULES, scripts.modules(), 26, limits=thirty),
        Exhibit(
            "strict",
            f"{scripts.RETRY[:-1]} in the docs?",
            scripts.retry(),
            24,
            tree="strict",
            saves={"strict": trees.STRICT, "triage": trees.TRIAGE},
        ),
        Exhibit("limit", scripts.RETRY, scripts.retry(), 16, limits=few),
    ]
    return sorted([*ordinary, *shown], key=lambda each: -each.minutes_ago)


@asynccontextmanager
async def gallery(
    folder: Path, *, pace: float = 0.0, only: Collection[str] | None = None, **settings: str
) -> AsyncIterator[Gallery]:
    """A service with these runs.

    Args:
        folder: an empty folder for its data.
        pace: how long turns take; 1.0 is as long as with a model.
        only: the names of the exhibits that are wanted; `None` means all.
        settings: of the service.
    """
    wanted = [each for each in exhibits() if only is None or each.name in only]
    async with contextlib.AsyncExitStack() as stack:
        vault = folder / "vault"
        prices = folder / "prices.yaml"
        furnish(folder / "project", vault)
        prices.write_text(PRICES, encoding="utf-8")
        settings |= SETTINGS | {"ORACLE_VAULT_DIR": str(vault), "ORACLE_PRICES": str(prices)}
        server = await stack.enter_async_context(serving(folder, **settings))
        (server.project / HELD_FILE).unlink()  # a search for words that no file has would wait for it
        assert server.desk is not None
        stage = Stage(server.desk.provider)
        client = Client(server)
        stack.push_async_callback(client.aclose)
        runs, edited = await _play(client, stage, wanted, pace)
        conversations = {name: (await client.run(run_id))["context_id"] for name, run_id in runs.items()}
        port = server.port
        await server.stop()
        _move_into_past(server.data, [(runs[each.name], conversations[each.name], each.minutes_ago) for each in wanted])
        _move_edits(server.data, edited)
        await server.start(port=port)
        if any("triage" in each.saves for each in wanted):  # an edit by hand, which the service refuses
            (server.data / "trees" / "triage.yaml").write_text(trees.BROKEN_TRIAGE, encoding="utf-8")
        yield Gallery(server, client, stage, runs, conversations, pace)


def furnish(project: Path, vault: Path) -> None:
    """A project to ask about: parts of this repository; and a vault with two notes."""
    for name in ("bt_runtime", "docs", "trees"):
        shutil.copytree(
            REPOSITORY / name, project / name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.md~")
        )
    vault.mkdir()
    (vault / "polling.md").write_text("# Polling\n\nThe decision: nothing polls, everything wakes.\n", encoding="utf-8")
    (vault / "release.md").write_text("# Release\n\nOn Friday.\n", encoding="utf-8")


def paced(reply: Reply, pace: float) -> Reply:
    """The same at another pace."""
    if isinstance(reply, ScriptedTurn):
        return replace(reply, delay_s=reply.delay_s * pace)
    if isinstance(reply, Disturbed):
        return replace(reply, turn=replace(reply.turn, delay_s=reply.turn.delay_s * pace))
    return reply


async def _play(
    client: Client, stage: Stage, wanted: Sequence[Exhibit], pace: float
) -> tuple[dict[str, str], list[float]]:
    """The runs by their exhibits, and how many minutes ago each new version of a tree is to have been saved."""
    runs: dict[str, str] = {}
    edited: list[float] = []
    async with asyncio.TaskGroup() as tasks:
        for each in wanted:
            for name, text in each.saves.items():
                if await save_tree(client, name, text):
                    edited.append(each.minutes_ago)
            replies = [paced(reply, pace) for reply in each.replies]
            if each.cancels_in is not None:
                replies[each.cancels_in - 1] = Disturbed(_turn_of(replies[each.cancels_in - 1]), "hang")
            stage.lay(each.question, *replies)
            begun = asyncio.Event()
            tasks.create_task(_ask(client, each, runs, begun))
            await begun.wait()
    return runs, edited


def _turn_of(reply: Reply) -> ScriptedTurn:
    assert isinstance(reply, ScriptedTurn)
    return replace(reply, delay_s=0)


async def _ask(client: Client, exhibit: Exhibit, runs: dict[str, str], begun: asyncio.Event) -> None:
    try:
        async with client.stream(exhibit.question, tree=exhibit.tree, limits=dict(exhibit.limits)) as stream:
            runs[exhibit.name] = stream.run_id
            begun.set()
            if exhibit.cancels_in is not None:
                await stream.until(lambda heard: "The loop ticks" in heard.answer, patience_s=_PATIENCE_S)
                await client.cancel(stream.run_id)
            await stream.to_end()
    finally:
        begun.set()


async def save_tree(client: Client, name: str, text: str) -> bool:
    """Save a text as the present version of a tree; whether it was another one."""
    found = await client.http.get(f"/api/trees/{name}")
    version = found.json()["version"] if found.status_code == 200 else None
    saved = await client.http.put(f"/api/trees/{name}", json={"source": text, "version": version})
    assert saved.status_code == 200, saved.text
    return bool(saved.json()["version"] != version)


def _move_into_past(data: Path, moves: Sequence[tuple[str, str, float]]) -> None:
    """Move runs and their conversations so many minutes back; the service is not running."""
    (file,) = data.glob("*.db")
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        for run_id, context_id, minutes in moves:
            by_s = minutes * 60
            database.execute(
                "UPDATE run SET created_at = created_at - ?, deadline_at = deadline_at - ?, "
                "finished_at = finished_at - ? WHERE id = ?",
                (by_s, by_s, by_s, run_id),
            )
            earlier = partial(_times_moved, by_s=by_s)
            events = database.execute("SELECT at, data, seq FROM event WHERE run_id = ?", (run_id,)).fetchall()
            database.executemany(
                "UPDATE event SET at = ?, data = ? WHERE run_id = ? AND seq = ?",
                [(at - by_s, earlier(data), run_id, seq) for at, data, seq in events],
            )
            database.execute(
                "UPDATE conversation SET created_at = created_at - ?, updated_at = updated_at - ? WHERE id = ?",
                (by_s, by_s, context_id),
            )
            messages = database.execute("SELECT at, metadata, n FROM message WHERE conversation_id = ?", (context_id,))
            database.executemany(
                "UPDATE message SET at = ?, metadata = ? WHERE conversation_id = ? AND n = ?",
                [(earlier(at), earlier(data), context_id, number) for at, data, number in messages.fetchall()],
            )
        in_order = database.execute("SELECT id FROM conversation ORDER BY created_at").fetchall()
        numbers = sorted(number for (number,) in database.execute("SELECT n FROM conversation"))
        for number, (context_id,) in zip(numbers, in_order, strict=True):
            database.execute("UPDATE conversation SET n = ? WHERE id = ?", (number, context_id))


def _move_edits(data: Path, minutes: Sequence[float]) -> None:
    """Move the saved versions of trees so many minutes back, in their order; the shipped ones are some days old."""
    (file,) = data.glob("*.db")
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        saved = database.execute("SELECT n FROM tree_edit WHERE how = 'saved' ORDER BY n").fetchall()
        for (number,), ago in zip(saved, minutes, strict=True):
            database.execute("UPDATE tree_edit SET at = at - ? WHERE n = ?", (ago * 60 + 30, number))
        database.execute("UPDATE tree_edit SET at = at - ? WHERE how != 'saved'", (_SHIPPED_DAYS_AGO * _DAY_M * 60,))


def _times_moved(text: str, by_s: float) -> str:
    """The same text, in which each ISO 8601 time is so much earlier."""

    def moved(found: re.Match[str]) -> str:
        return iso(datetime.fromisoformat(found[0]) - timedelta(seconds=by_s))

    return _TIME.sub(moved, text)


async def show(pace: float, settings: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        print("The runs are being recorded ...", flush=True)
        async with gallery(Path(name), pace=pace, **settings) as it:
            print(f"The gallery is at {it.server.url}", flush=True)
            for exhibit, run_id in it.runs.items():
                print(f"  {exhibit:12} {it.server.url}/runs/{run_id}")
            await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pace", type=float, default=1.0)
    parser.add_argument("--debug", action="store_true", help="live debugging is enabled")
    given = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(show(given.pace, {"ORACLE_DEBUG": "1"} if given.debug else {}))


if __name__ == "__main__":
    main()
