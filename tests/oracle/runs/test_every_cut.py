"""A log that ends at any place is gone on with to the same answer: what was committed is all that a worker has.

A query is run to its end, and its log is cut after each entry of the writer, which is committed as a whole. Another
process goes on from there; the model's replies are a function of its messages, so the undisturbed answer is known.
"""

import asyncio
import json
import random
import shutil
import sqlite3
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from oracle.llm.protocol import ModelEvent, ModelRequest, TextDelta, ToolCallRequested, ToolUse, TurnEnded, Usage
from oracle.runs.storage.commit import TickEntry
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.store import open_store
from oracle.tools import Tool, call_key, tool
from tests.durable.answers import answer, read, rest, result_of
from tests.oracle.runs.running import Managed, Told, managed
from tests.support.stores import sqlite_url

_STEP = 4
_KINDS = ("tools", "parallel", "stuck", "endless")


class DigestModel:
    """Says what `tests.durable.answers` says, and remembers what it was asked."""

    name = "digest"
    has_web_search = False

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.unknown: set[str] = set()

    async def aclose(self) -> None:
        """Nothing is open."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        reading = read(request.messages)
        self.unknown.update(reading.unknown)
        if not reading.said:
            self.asked.append(reading.digest)
        left = rest(answer(reading, pieces=3), reading.said)
        for piece in left.pieces:
            yield TextDelta(piece)
            await asyncio.sleep(0)
        content: list[dict[str, Any]] = [{"type": "text", "text": left.text}] if left.text else []
        for call in left.calls:
            yield ToolCallRequested(ToolUse(call.id, call.name, call.arguments))
            content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)})
        ends = "max_tokens" if left.cut_at is not None else "tool_use" if left.calls else "end_turn"
        yield TurnEnded(ends, Usage(10, 0, 0, 5), tuple(content), self.name)


class Shelf:
    """Tools, and what they have written."""

    def __init__(self, written: set[str] | None = None) -> None:
        self.effects = sorted(written or ())

    def tools(self) -> list[Tool]:
        """Reading and writing ones."""

        @tool(group="shelf", when_to_use="Always.", query_types="always")
        async def shelf_read(key: str) -> str:
            """Read."""
            return f"On the shelf stands {key}."

        @tool(group="shelf", when_to_use="Always.", query_types="always")
        async def shelf_empty(key: str) -> str:
            """Read nothing."""
            return f"Nothing was found for {key}."

        @tool(group="shelf", when_to_use="Always.", writes=True, takes_key=True, query_types="always")
        async def note_keyed(key: str, text: str) -> str:
            """Write once for each key."""
            assert text
            assert call_key() is not None
            if key not in self.effects:
                self.effects.append(key)
            return result_of(key)

        @tool(group="shelf", when_to_use="Always.", writes=True, query_types="always")
        async def note_plain(key: str, text: str) -> str:
            """Write each time."""
            assert text
            self.effects.append(key)
            return result_of(key)

        return [shelf_read, shelf_empty, note_keyed, note_plain]


def ends_of(it: Managed) -> list[int]:
    """The numbers of the last events of the entries that are to be committed from now on."""
    put, ends = it.store.writer._put, list[int]()

    def note(entry: Any) -> None:
        if isinstance(entry, TickEntry):
            ends.extend(row[1] for _, row, _ in entry.events[-1:])
        elif isinstance(entry, tuple):
            ends.append(entry[1][1])
        put(entry)

    it.store.writer._put = note  # type: ignore[method-assign]
    return ends


def cut(file: Path, run_id: str, *, after: int) -> tuple[set[str], int]:
    """Leave a finished run as a process has that died after this event.

    Returns:
        The keys that it may have written at most, and how many turns have an outcome in the log.
    """
    with sqlite3.connect(file) as connection:
        connection.execute("DELETE FROM event WHERE seq > ?", (after,))
        connection.execute("DELETE FROM message")
        connection.execute(
            "UPDATE run SET status = 'running', attempts = 0, finished_at = NULL, termination_reason = NULL, "
            "answer = NULL, turns = NULL, tokens_used = NULL, tokens_estimated = NULL, model_used = NULL, "
            "summary = NULL"
        )
        data = [json.loads(row[0]) for row in connection.execute("SELECT data FROM event WHERE kind = 'chunk'")]
        of_calls = {each["tool_call"]["id"]: each["tool_call"] for each in data if each["type"] == "tool_call"}
        intents = [json.loads(row[0]) for row in connection.execute("SELECT data FROM event WHERE kind = 'intent'")]
        turns = connection.execute(
            "SELECT count(*) FROM event WHERE kind = 'turn_end' AND data NOT LIKE '%\"is_lost\":true%'"
        ).fetchone()[0]
    connection.close()
    return {of_calls[each["call_id"]]["arguments"]["key"] for each in intents}, turns


async def undisturbed(url: str, kind: str) -> tuple[Told, list[int], Shelf, DigestModel]:
    shelf, model = Shelf(), DigestModel()
    async with (
        open_store(url, worker="first") as store,
        managed(store, model=model, tools=shelf.tools()) as it,
    ):
        ends = ends_of(it)
        return await it.ask(f"[{kind}:k1] Where is it?", limits={"max_iterations": 7}), ends, shelf, model


async def gone_on(url: str, record: RunRecord, shelf: Shelf) -> tuple[Told, list[int], DigestModel]:
    model = DigestModel()
    async with open_store(url, worker=uuid4().hex) as store, managed(store, model=model, tools=shelf.tools()) as it:
        ends = ends_of(it)
        return await it.told(record), ends, model


async def check_cut(file: Path, whole: Told, asked: list[str], effects: list[str], *, after: int) -> list[int]:
    """Cut a finished run after an event, go on with it, and compare; returns where it can be cut then."""
    written, turns = cut(file, whole.record.id, after=after)
    shelf = Shelf(written)
    again, ends, model = await gone_on(f"sqlite:///{file}", whole.record, shelf)
    for name in ("answer", "termination_reason", "turns"):
        assert getattr(again.record, name) == getattr(whole.record, name), f"{name}, cut after event {after}"
    assert sorted(shelf.effects) == sorted(effects), f"cut after event {after}"
    assert not set(asked[:turns]) & set(model.asked), f"an ended turn was asked again, cut after event {after}"
    assert model.unknown <= written, f"cut after event {after}"
    return ends


async def tried(folder: Path, kind: str, *, first: int, step: int) -> int:
    """Cut at every `step`th place; returns how many there were."""
    whole, ends, shelf, model = await undisturbed(sqlite_url(folder / "whole.db"), kind)
    places = ends[1 + first :: step]  # after the event that opens it
    for place in places:
        file = folder / f"cut-{place}.db"
        shutil.copy(folder / "whole.db", file)
        await check_cut(file, whole, model.asked, shelf.effects, after=place)
    return len(places)


async def tried_again_and_again(folder: Path, kind: str, *, seed: int) -> None:
    """Cut what has gone on as well, at random places, three times in all."""
    dice, file = random.Random(seed), folder / "cut.db"
    whole, ends, shelf, model = await undisturbed(sqlite_url(file), kind)
    for _ in range(3):
        place = dice.choice(ends[1:] or ends)
        ends = [place, *await check_cut(file, whole, model.asked, shelf.effects, after=place)]


@pytest.mark.long("a service for each place")
@pytest.mark.parametrize("kind", _KINDS)
async def test_a_log_that_ends_anywhere_is_gone_on_with_to_the_same_answer(tmp_path: Path, kind: str) -> None:
    assert await tried(tmp_path, kind, first=_KINDS.index(kind) % _STEP, step=_STEP) >= 3


@pytest.mark.long("four services for each")
@pytest.mark.parametrize("kind", _KINDS)
async def test_a_log_that_ends_again_is_gone_on_with_too(tmp_path: Path, kind: str) -> None:
    for seed in range(2):
        (tmp_path / str(seed)).mkdir()
        await tried_again_and_again(tmp_path / str(seed), kind, seed=seed)


@pytest.mark.long("a service for each place")
async def test_a_log_that_ends_again_after_a_call_of_unknown_outcome(tmp_path: Path) -> None:
    """Its result is kept as what it is: no error of a tool."""
    file = tmp_path / "first.db"
    whole, _, shelf, model = await undisturbed(sqlite_url(file), "parallel")
    with sqlite3.connect(file) as connection:
        (intent,) = connection.execute(
            "SELECT seq FROM event WHERE kind = 'intent' AND data LIKE '%note_plain%'"
        ).fetchone()
    connection.close()
    ends = await check_cut(file, whole, model.asked, shelf.effects, after=intent)
    for place in ends[:12:3]:
        again = tmp_path / f"cut-{place}.db"
        shutil.copy(file, again)
        await check_cut(again, whole, model.asked, shelf.effects, after=place)


@pytest.mark.soak
@pytest.mark.parametrize("kind", _KINDS)
async def test_a_log_that_ends_at_every_place(tmp_path: Path, kind: str) -> None:
    assert await tried(tmp_path, kind, first=0, step=1) > 20
    for seed in range(2, 30):
        (tmp_path / str(seed)).mkdir()
        await tried_again_and_again(tmp_path / str(seed), kind, seed=seed)
