"""Runs whose client has brought tools: parked while it runs them, and gone on with wherever their log ends."""

import asyncio
import json
import shutil
import sqlite3
import time
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import update

from bt_runtime.text import iso
from oracle.agent.nodes import REGISTRY
from oracle.agent.people import client_answer
from oracle.core.errors import UserError
from oracle.features.scenarios.recorded import scenario_of
from oracle.replay.recorded import read_run, repeat
from oracle.runs.options import RunOptions
from oracle.runs.storage.archive import open_archive
from oracle.runs.storage.interrupts import Answerer, Delivery, interrupt
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.store import Store, open_store
from oracle.tools.client_tools import ClientTool, ClientTools
from tests.acceptance.harness import CHAT, answers, calls, made_tool, numbered, says
from tests.oracle.replay.histories.logs import log_of
from tests.oracle.runs.running import PATIENCE_S, Managed, Told, managed
from tests.oracle.runs.test_every_cut import DigestModel, Shelf, cut, ends_of
from tests.oracle.runs.test_waiting_runs import until_status
from tests.support.stores import sqlite_url

KEYED = {"properties": {"key": {"type": "string"}}}
PLACE = ClientTool("get_place", "Where the user is.", KEYED)
ASKS = says("I look. ", calls("get_place", key="a"), calls("get_place", key="b"))


working = partial(managed, timestamp=lambda: iso(time.time()))
"""With times at which what is asked now has not expired yet."""


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    address: str = request.getfixturevalue("url" if request.param == "sqlite" else "postgresql_url")
    return address


async def questions(store: Store, record: RunRecord, *, number: int) -> list[dict[str, Any]]:
    """The first questions of a run, when it has asked them."""
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE_S):
        async for batch in store.log.follow(record.id):
            data = [json.loads(chunk.data) for chunk in batch]
            found += [each["interrupt"] for each in data if each["type"] == "question"]
            if len(found) >= number:
                break
    return found


async def answered(store: Store, record: RunRecord, *given: tuple[str, str]) -> None:
    deliveries = [Delivery(id_, "answer", answer=client_answer(output)) for id_, output in given]
    await store.interrupts.answer(record.id, deliveries, by=Answerer(record.user_id))


async def test_a_run_that_waits_for_its_client_is_a_row_and_another_worker_goes_on_with_it(database: str) -> None:
    async with open_store(database, worker="one") as store, working(store, [ASKS]) as it:
        live = await it.start(CHAT, client_tools=ClientTools([PLACE]), is_detached=True)
        first, second = await questions(store, live.record, number=2)
        await until_status(store, live.record.id, "parked")
        row = await store.runs.find(live.record.id)
        assert row is not None
        assert row.input["client_tools"] == [PLACE.to_json()]
    async with open_store(database, worker="two") as store, working(store, [answers("In Bern.")]) as it:
        await answered(store, live.record, (second["id"], "Basel"))
        await questions(store, live.record, number=2)
        await answered(store, live.record, (second["id"], "Basel"), (first["id"], "Bern"))
        ended = await it.told(live.record)
        assert it.harness.scripted is not None
        (request,) = it.harness.scripted.requests
    assert ended.text == "I look. \n\nIn Bern."
    results = {each["tool_call_id"]: each["tool_result"] for each in ended.chunks if each["type"] == "tool_result"}
    assert results == {first["tool_call_id"]: "Bern", second["tool_call_id"]: "Basel"}
    assert [tool.name for tool in request.tools] == ["get_place"]
    assert request.tools[0].input_schema["properties"] == KEYED["properties"]
    assert ended.record.termination_reason == "completed"


async def test_a_run_that_waits_is_repeated_from_the_database_as_it_was_recorded(database: str) -> None:
    async with open_store(database, worker="one") as store, working(store, [ASKS]) as it:
        live = await it.start(CHAT, client_tools=ClientTools([PLACE]), is_detached=True)
        await until_status(store, live.record.id, "parked")
    async with open_archive(database) as archive:
        run = await read_run(archive, await archive.find(live.record.id))
    repeated = repeat(run, registry=REGISTRY)
    assert (repeated.diverged_at, repeated.missing) == (None, ())
    assert len(repeated.records) == len(run.ticks) > 1


async def test_a_client_that_is_late_costs_its_call(database: str) -> None:
    async with open_store(database, worker="one") as store, working(store, [ASKS, answers("Nowhere.")]) as it:
        live = await it.start(CHAT, client_tools=ClientTools([PLACE]), is_detached=True)
        first, _ = await questions(store, live.record, number=2)
        await until_status(store, live.record.id, "parked")
        await answered(store, live.record, (first["id"], "Bern"))
        past = update(interrupt).where(interrupt.c.status == "pending").values(expires_at=1.0)
        await store.write(lambda connection: connection.execute(past))
        assert await store.interrupts.expire() == 1
        ended = await it.told(live.record)
    results = [(each["tool_result"], each["is_error"]) for each in ended.chunks if each["type"] == "tool_result"]
    assert sorted(results) == [
        ("Bern", False),
        ("Not answered: the user's application gave no result within 600 s.", True),
    ]
    assert ended.text.endswith("Nowhere.")


async def test_a_run_that_waited_for_a_place_has_the_tools_of_its_client(store: Store) -> None:
    turns = [says("Half of the", hang=True), ASKS, answers("In Bern.")]
    async with working(store, turns, options=RunOptions(most_here=1, reader_grace_s=60)) as it:
        first = await it.start()
        await it.until_text(first.record, "Half of the")
        waiting = await it.start(CHAT, client_tools=ClientTools([PLACE]), is_detached=True)
        assert waiting.record.status == "queued"
        first.cancel()
        asked = await questions(store, waiting.record, number=2)
        await answered(store, waiting.record, *((each["id"], "Bern") for each in asked))
        assert (await it.told(waiting.record)).text == "I look. \n\nIn Bern."


async def test_a_new_tool_of_the_service_takes_no_name_from_a_run_that_has_begun(url: str) -> None:
    async with open_store(url, worker="one") as store, working(store, [ASKS]) as it:
        live = await it.start(CHAT, client_tools=ClientTools([PLACE]), is_detached=True)
        asked = await questions(store, live.record, number=2)
        await until_status(store, live.record.id, "parked")
    tools = [made_tool(numbered, "get_place")]
    async with open_store(url, worker="two") as store, working(store, [answers()], tools=tools) as it:
        await answered(store, live.record, *((each["id"], "Bern") for each in asked))
        ended = await it.told(live.record)
    assert [each["tool_result"] for each in ended.chunks if each["type"] == "tool_result"] == ["Bern", "Bern"]


async def test_the_record_of_such_a_run_is_repeated_and_read(url: str) -> None:
    async with open_store(url, worker="one") as store, working(store, [ASKS, answers("In Bern.")]) as it:
        live = await it.start(CHAT, client_tools=ClientTools([PLACE]), is_detached=True)
        asked = await questions(store, live.record, number=2)
        await answered(store, live.record, *((each["id"], f"Bern {n}") for n, each in enumerate(asked)))
        ended = await it.told(live.record)
    async with open_archive(url) as archive:
        recorded = await read_run(archive, ended.record)
        log = await log_of(archive, ended.record)
    assert repeat(recorded, registry=REGISTRY).diverged_at is None
    with pytest.raises(UserError, match="a scenario has no client"):
        scenario_of(recorded, registry=REGISTRY)
    history = log.explained()
    assert [(each.name, each.result, each.ran, each.is_error) for each in history.calls] == [
        ("get_place", "Bern 0", True, False),
        ("get_place", "Bern 1", True, False),
    ]


# Wherever the log ends


class Cabinet(Shelf):
    """A shelf of which the client reads."""

    def tools(self) -> list[Any]:
        return [each for each in super().tools() if each.name not in ("shelf_read", "shelf_empty")]


OF_THE_CLIENT = ClientTools(ClientTool(name, "Read.", KEYED) for name in ("shelf_read", "shelf_empty"))


async def with_client(it: Managed, record: RunRecord) -> Told:
    """The end of a run, whose client answers all that it is asked."""
    async with asyncio.timeout(PATIENCE_S):
        async for batch in it.store.log.follow(record.id):
            for each in [json.loads(chunk.data) for chunk in batch]:
                if each["type"] == "question":
                    asked = each["interrupt"]
                    await answered(it.store, record, (asked["id"], f"There stands {asked['arguments']['key']}."))
    return await it.told(record)


def without_answers(file: Path, *, keep: bool) -> None:
    """Forget what was asked behind the end of the log, and of the rest the answers that it does not have."""
    with sqlite3.connect(file) as connection:
        data = [json.loads(row[0]) for row in connection.execute("SELECT data FROM event WHERE kind = 'chunk'")]
        asked = {each["interrupt"]["id"] for each in data if each["type"] == "question"}
        known = {each["interrupt"]["id"] for each in data if each["type"] == "answered"}
        for (id_,) in connection.execute("SELECT id FROM interrupt").fetchall():
            if id_ not in asked:
                connection.execute("DELETE FROM interrupt WHERE id = ?", (id_,))
            elif id_ not in known and not keep:
                pending = (
                    "UPDATE interrupt SET status = 'pending', answer = NULL, answered_by = NULL, answered_at = NULL"
                )
                connection.execute(f"{pending} WHERE id = ?", (id_,))
    connection.close()


async def tried(folder: Path, kind: str, *, step: int, first: int = 0) -> int:
    model, shelf = DigestModel(), Cabinet()
    address = sqlite_url(folder / "whole.db")
    async with open_store(address, worker="first") as store, working(store, model=model, tools=shelf.tools()) as it:
        ends = ends_of(it)
        ask = {"limits": {"max_iterations": 7}, "client_tools": OF_THE_CLIENT, "is_detached": True}
        live = await it.start(f"[{kind}:k1] Where is it?", **ask)
        whole = await with_client(it, live.record)
    assert "question" in whole.types
    places = ends[1 + first :: step]
    for n, place in enumerate(places):
        file = folder / f"cut-{place}.db"
        shutil.copy(folder / "whole.db", file)
        written, turns = cut(file, whole.record.id, after=place)
        without_answers(file, keep=n % 2 == 0)
        next_model, next_shelf = DigestModel(), Cabinet(written)
        async with (
            open_store(f"sqlite:///{file}", worker=uuid4().hex) as store,
            working(store, model=next_model, tools=next_shelf.tools()) as it,
        ):
            again = await with_client(it, whole.record)
        for name in ("answer", "termination_reason", "turns"):
            assert getattr(again.record, name) == getattr(whole.record, name), f"{name}, cut after event {place}"
        assert not set(model.asked[:turns]) & set(next_model.asked), f"cut after event {place}"
        asked = [each["interrupt"]["id"] for each in again.chunks if each["type"] == "question"]
        assert len(asked) == len(set(asked)), f"asked twice, cut after event {place}"
    return len(places)


@pytest.mark.long("a service for each place")
@pytest.mark.parametrize("kind", ["tools", "parallel"])
async def test_a_log_that_ends_anywhere_is_gone_on_with_to_the_same_answer(tmp_path: Path, kind: str) -> None:
    assert await tried(tmp_path, kind, step=4, first=1) >= 3


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["tools", "parallel"])
async def test_a_log_that_ends_at_every_place(tmp_path: Path, kind: str) -> None:
    assert await tried(tmp_path, kind, step=1) > 20
