"""The debugger's calls for a run whose texts were deleted: figures and a plain sentence, never an error."""

import json

import pytest

from oracle.runs.record.figures import LogFigures
from oracle.server.api.history_replies import HistoryPage, RunTree, TurnList
from oracle.server.api.replies import TickList
from tests.oracle.server.api.test_recorded import ANSWER, CALL, CALLS, QUESTION
from tests.support.databases import DATABASES

SENTENCE = "its texts were deleted, so it cannot be replayed or explained; results, times and figures are left"
SAID = ("Looking", "Found it", "Which files")


@pytest.fixture(params=DATABASES)
def database(request):
    return None if request.param == "sqlite" else request.getfixturevalue("postgresql_url")


async def test_each_call_shows_what_is_left_and_says_why_it_is_no_more(start, database):
    service = await start([CALL, ANSWER] * 2, url=database)
    run_id, other = [(await service.ask(QUESTION)).run_id for _ in range(2)]
    ticks = (await service.client.get(f"/api/runs/{run_id}/ticks")).json()["ticks"]
    assert await service.parts.store.retention.drop_texts(older_than_s=-1.0, new_reducer=LogFigures) == 2
    found = {}
    for call in (*CALLS, f"compare?with={other}", "ticks?reasons=true"):
        response = await service.client.get(f"/api/runs/{run_id}/{call}")
        assert response.status_code == 200, (call, response.text)
        assert not any(text in response.text for text in SAID), call
        found[call] = response.text if call == "ticks/stream" else response.json()
    left = TickList.model_validate(found["ticks"]).ticks
    assert [tick.took_ms for tick in left] == [tick["took_ms"] for tick in ticks]
    explained = found["ticks?reasons=true"]["ticks"]
    assert [(tick["decision"], tick["visits"]) for tick in explained] == [(None, [])] * len(ticks)
    history = HistoryPage.model_validate(found["history"])
    assert (history.problem, history.run.kept) == (SENTENCE, "figures")
    assert all(turn.tokens and turn.ended_tick for turn in history.turns)
    assert len(history.turns) == 2
    (call,) = history.calls
    assert (call.name, call.turn, call.arguments, call.result, call.ran) == ("list_files", 1, None, None, True)
    assert history.end is not None
    assert RunTree.model_validate(found["tree"]).problem == SENTENCE
    assert TurnList.model_validate(found["turns"]).turns == history.turns
    events = [json.loads(part[6:]) for part in found["ticks/stream"].split("\n") if part.startswith("data: ")]
    assert [event["type"] for event in events] == ["tick"] * len(ticks) + ["end"]
    assert events[-1]["problem"] == SENTENCE
    assert found[f"compare?with={other}"]["is_same"]
    assert not found[f"compare?with={other}"]["difference"]["has_texts"]
