"""What is recorded of runs, with its reasons, page by page."""

import asyncio
import json
from itertools import product
from typing import Any

import pytest

from oracle.agent.nodes import REGISTRY
from oracle.core.encoding import from_json, to_json
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.foreign import history_from_json
from oracle.replay.histories.reading import read_history
from oracle.runs.record.figures import LogFigures
from oracle.runs.storage import schema
from oracle.runs.storage.archive import Archive
from oracle.server.api.history_replies import HistoryPage, RunTree, TurnList
from oracle.server.api.replies import TickList
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, OLGA

CALL = ScriptedTurn(text="Looking. ", tool_calls=(ScriptedCall("list_files", {}),), piece_chars=2)
ANSWER = ScriptedTurn(
    text='Found it. <signal type="context_sufficient"><sources_found>1</sources_found></signal>', piece_chars=5
)
QUESTION = "Which files does the code have?"
LISTS = ("ticks", "turns", "calls", "notices", "texts")
CALLS = ("ticks", "signals", "history", "tree", "turns", "ticks/stream")


async def pages(service, path: str, **params: Any) -> list[dict[str, Any]]:
    """All pages of a list."""
    found, after = [], 0
    while after is not None:
        response = await service.client.get(path, params={**params, "after": after})
        assert response.status_code == 200, response.text
        found.append(response.json())
        after = found[-1]["next"]
    return found


def joined(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The pages of a history as one."""
    whole = {**found[0], **found[-1]}
    return whole | {name: [item for page in found for item in page[name]] for name in LISTS}


async def stored(service, run_id: str) -> dict[str, Any]:
    """The history that the store's reader makes of the run."""
    archive = Archive(service.parts.store.database)
    return json.loads(history_to_json(await read_history(archive, await archive.find(run_id), registry=REGISTRY)))


@pytest.mark.parametrize("size", [{}, {"limit": 1}, {"max_bytes": 1_000}, {"max_bytes": 6_000}, {"limit": 2}])
async def test_the_pages_of_a_history_are_the_exported_run(start, size):
    service = await start([CALL, ANSWER])
    streamed = await service.ask(QUESTION)
    found = await pages(service, f"/api/runs/{streamed.run_id}/history", **size)
    for page in found:
        assert HistoryPage.model_validate(page).model_dump(mode="json", exclude_unset=True) == page
        assert len(page["ticks"]) <= size.get("limit", 200)
    assert len(found) == 1 if not size else len(found) > 2
    assert ["tree" in page for page in found] == [True] + [False] * (len(found) - 1)
    whole = joined(found)
    del whole["next"]
    assert whole == await stored(service, streamed.run_id)
    assert history_from_json(json.dumps(whole)).end is not None


async def test_a_page_is_bounded_by_bytes_and_has_one_tick_at_least(start):
    service = await start([CALL, ANSWER])
    streamed = await service.ask(QUESTION)
    for call in ("ticks", "history"):
        found = await pages(service, f"/api/runs/{streamed.run_id}/{call}", max_bytes=2_000)
        assert len(found) > 1
        for page in found:
            assert len(page["ticks"]) == 1 or len(json.dumps(page["ticks"], separators=(",", ":"))) <= 2_100


async def test_a_head_is_there_on_demand(service):
    streamed = await service.ask()
    path = f"/api/runs/{streamed.run_id}/history"
    without = (await service.client.get(path, params={"head": False})).json()
    assert "tree" not in without
    later = (await service.client.get(path, params={"head": True, "after": 1})).json()
    assert later["tree"]["nodes"]
    assert {key["name"]: key["value"] for key in later["keys"]}["question"] == "hello"


async def test_ticks_have_their_reasons_if_asked_for(start):
    service = await start([CALL, ANSWER])
    streamed = await service.ask(QUESTION)
    path = f"/api/runs/{streamed.run_id}/ticks"
    (plain,) = await pages(service, path)
    (explained,) = await pages(service, path, reasons=True)
    small = await pages(service, path, reasons=True, limit=2)
    assert [tick for page in small for tick in page["ticks"]] == explained["ticks"]
    recorded = [dict.fromkeys(tick, None) for tick in plain["ticks"]]
    for fields, each in zip(recorded, explained["ticks"], strict=True):
        fields.update({name: each[name] for name in fields})
        assert each["decision"] in each["visited"] or each["cause"] == "end"
    assert recorded == plain["ticks"]
    assert explained["ticks"][0]["visits"][0]["node"] == 0
    assert TickList.model_validate(explained).model_dump(mode="json", exclude_unset=True) == explained


async def test_ticks_whose_records_exceed_a_page_follow_on_the_next_one(start, monkeypatch):
    service = await start([CALL, ANSWER])
    streamed = await service.ask(QUESTION)
    path = f"/api/runs/{streamed.run_id}/ticks"
    (whole,) = await pages(service, path, reasons=True)
    monkeypatch.setattr("oracle.server.api.recorded._MOST_BYTES", 2_000)
    found = await pages(service, path, reasons=True)
    assert len(found) > 1
    assert [tick for page in found for tick in page["ticks"]] == whole["ticks"]


async def test_the_tree_of_a_run_has_places_texts_and_first_values(service):
    streamed = await service.ask()
    told = (await service.client.get(f"/api/runs/{streamed.run_id}/tree")).json()
    assert RunTree.model_validate(told).model_dump(mode="json", exclude_unset=True) == told
    tree = told["tree"]
    for node in tree["nodes"]:
        assert 1 <= node["line"] <= tree["files"][node["file"]].count("\n") + 1
    (plain,) = await pages(service, f"/api/runs/{streamed.run_id}/ticks")
    assert [node["path"] for node in tree["nodes"]] == plain["nodes"]
    assert tree["version"] == plain["version"]
    question = next(key for key in told["keys"] if key["name"] == "question")
    assert (question["type"], question["value"]) == ("str", "hello")
    assert question["description"]


@pytest.mark.parametrize("size", [{}, {"limit": 1}, {"max_bytes": 1_000}])
async def test_turns_have_their_raw_responses(start, size):
    service = await start([CALL, ANSWER])
    streamed = await service.ask(QUESTION)
    found = await pages(service, f"/api/runs/{streamed.run_id}/turns", **size)
    for page in found:
        assert TurnList.model_validate(page).model_dump(mode="json", exclude_unset=True) == page
    turns = [turn for page in found for turn in page["turns"]]
    assert [turn["n"] for turn in turns] == [1, 2]
    assert [turn["answer"].partition(" ")[0] for turn in turns] == ["Looking.", "Found"]
    assert len(found) == 1 or size


async def test_of_a_run_under_way_there_is_what_has_come(start):
    service = await start([CALL, HANGS])
    async with service.asking(QUESTION) as streamed:
        await streamed.until("here")
        (page,) = await pages(service, f"/api/runs/{streamed.run_id}/history")
        assert page["run"]["status"] == "running"
        assert page["end"] is None
        last = page["ticks"][-1]["tick"]
        assert [text["text"] for text in page["texts"] if text["tick"] > last] == ["\n\nIt begins here "]
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()
    rest = (await service.client.get(f"/api/runs/{streamed.run_id}/history", params={"after": last})).json()
    assert rest["run"]["status"] == "finished"
    assert rest["end"]["reason"] == "user_cancelled"
    assert [tick["tick"] for tick in rest["ticks"]][:1] == [last + 1]
    whole = joined(
        [page | {name: [i for i in page[name] if i.get("tick", 0) <= last] for name in ("texts", "notices")}, rest]
    )
    assert whole["texts"] == (await stored(service, streamed.run_id))["texts"]


async def test_a_run_is_its_users_and_operators(guarded):
    streamed = await guarded.ask(headers=ALICE)
    for call in CALLS:
        path = f"/api/runs/{streamed.run_id}/{call}"
        assert (await guarded.client.get(path, headers=ALICE)).status_code == 200
        assert (await guarded.client.get(path, headers=OLGA)).status_code == 200
        stranger = await guarded.client.get(path, headers=BOB)
        assert (stranger.status_code, stranger.json()) == (404, {"detail": "There is no such run."})
        assert (await guarded.client.get(path)).status_code == 401


async def test_what_was_deleted_is_gone_also_from_the_memory(service):
    streamed = await service.ask("A secret of mine")
    for call in ("history", "tree", "ticks/stream"):
        assert "secret" in (await service.client.get(f"/api/runs/{streamed.run_id}/{call}")).text
    await service.client.delete(f"/api/oracle/conversations/{streamed.done['context_id']}")
    for call in CALLS:
        response = await service.client.get(f"/api/runs/{streamed.run_id}/{call}")
        assert response.status_code == 410
        assert "deleted" in response.json()["detail"]


async def test_texts_that_retention_has_dropped_are_gone_also_from_the_memory(service):
    streamed = await service.ask("A secret of mine")
    calls = ("history", "tree", "ticks?reasons=true", "ticks/stream")
    for call in calls:
        response = await service.client.get(f"/api/runs/{streamed.run_id}/{call}")
        assert ("secret" in response.text) is not call.startswith("ticks?")
    await service.parts.store.retention.drop_texts(older_than_s=-60.0, new_reducer=LogFigures)
    for call in calls:
        response = await service.client.get(f"/api/runs/{streamed.run_id}/{call}")
        assert response.status_code == 200
        assert "secret" not in response.text, call


WRONG = ("after=-1", "after=x", "limit=0", "limit=1001", "max_bytes=999", "max_bytes=8000001", "no=1", "after=3e9")


async def test_a_wrong_page_is_refused(service):
    streamed = await service.ask()
    for call, query in product(("ticks", "signals", "history", "turns"), WRONG):
        path = f"/api/runs/{streamed.run_id}/{call}?{query}"
        assert (await service.client.get(path)).status_code == 422, path


async def test_a_page_beyond_the_last_tick_is_empty(service):
    streamed = await service.ask()
    for call in ("ticks", "ticks?reasons=true", "signals", "history", "turns"):
        path = f"/api/runs/{streamed.run_id}/{call}"
        told = (await service.client.get(path, params={"after": 2**31 - 1})).json()
        assert told["next"] is None
        assert told.get("ticks", []) == []


STRANGE = {
    "missing": None,
    "of number 0": {"tick": 0},
    "of a number far beyond": {"tick": 10**9},
    "of no number": {"tick": "one"},
    "no tick": b"[]",
    "no JSON": b"{",
}


@pytest.mark.parametrize("damage", STRANGE.values(), ids=list(STRANGE))
@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_log_without_a_tick_or_with_a_strange_one_is_read_to_its_end_with_its_problem(start, number, damage):
    service = await start([CALL, CALL, ANSWER])
    streamed = await service.ask(QUESTION)
    log = schema.event
    entries = await service.parts.store.log.events(streamed.run_id, kinds={"tick"}, limit=100)
    entry = entries[number - 1]
    at = (log.c.run_id == streamed.run_id) & (log.c.seq == entry.seq)
    change: Any = log.delete().where(at)
    if damage is not None:
        data = damage if isinstance(damage, bytes) else to_json(from_json(entry.data) | damage)
        change = log.update().where(at).values(data=data)
    await service.parts.store.write(lambda connection: connection.execute(change).close())
    base = f"/api/runs/{streamed.run_id}"
    async with asyncio.timeout(20):
        for limit in (1, 200):
            whole = joined(await pages(service, f"{base}/history", limit=limit))
            assert f"tick {number} is not in the log" in whole["problem"] or "is damaged" in whole["problem"]
            assert whole["end"]["reason"] == "completed"
            if damage != {"tick": 10**9}:  # after which no number follows
                kept = [n for n in range(1, len(entries) + 1) if n != number]
                assert [tick["tick"] for tick in whole["ticks"]] == kept
            turns = [each for page in await pages(service, f"{base}/turns", limit=limit) for each in page["turns"]]
            assert len(turns) == 3 or damage == {"tick": 10**9}
            for more in ({}, {"reasons": "true"}):
                listed = await pages(service, f"{base}/ticks", limit=limit, **more)
                assert sum(len(page["ticks"]) for page in listed) >= 1
