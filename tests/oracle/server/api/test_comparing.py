"""Where two recorded runs part, over HTTP."""

from oracle.server.api import whole_runs
from oracle.server.api.history_replies import RunComparison
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, BOB, OLGA, OPERATOR, TOKENS

CALL = ScriptedTurn(text="Looking. ", tool_calls=(ScriptedCall("list_files", {}),))
QUESTION = "Which files does the code have?"


async def test_two_runs_are_compared(start):
    service = await start([CALL, ScriptedTurn(text="Done.")])
    one, other = await service.ask(QUESTION), await service.ask(QUESTION)
    path = f"/api/runs/{one.run_id}/compare"
    told = (await service.client.get(path, params={"with": other.run_id})).json()
    assert RunComparison.model_validate(told).model_dump(mode="json", by_alias=True) == told
    assert (told["run_id"], told["with"], told["is_same"]) == (one.run_id, other.run_id, False)
    assert told["difference"]["input"]["kind"] == "outcome"
    assert told["difference"]["way"]["tick"] > 1
    same = (await service.client.get(path, params={"with": one.run_id})).json()
    assert same["is_same"]
    assert same["difference"]["ticks"] == []


async def test_both_runs_must_be_ones_own(start):
    service = await start(tokens=TOKENS | OPERATOR, operators=("olga",))
    own, others = await service.ask(headers=ALICE), await service.ask(headers=BOB)
    for headers, path, other, status in (
        (ALICE, own, own, 200),
        (ALICE, own, others, 404),
        (ALICE, others, own, 404),
        (OLGA, own, others, 200),
    ):
        response = await service.client.get(
            f"/api/runs/{path.run_id}/compare", params={"with": other.run_id}, headers=headers
        )
        assert response.status_code == status
    assert (await service.client.get(f"/api/runs/{own.run_id}/compare", headers=ALICE)).status_code == 422


async def test_very_long_runs_are_refused(start, monkeypatch):
    service = await start()
    run = await service.ask()
    monkeypatch.setattr(whole_runs, "MOST_TICKS", 1)
    refused = await service.client.get(f"/api/runs/{run.run_id}/compare", params={"with": run.run_id})
    assert refused.status_code == 422
    assert "oracle runs diff" in refused.json()["detail"][0]["msg"]


async def test_a_run_whose_texts_are_gone_is_not_compared(start):
    service = await start()
    kept, gone = await service.ask(), await service.ask()
    await service.client.delete(f"/api/oracle/conversations/{gone.done['context_id']}")
    for path, other in ((kept, gone), (gone, kept)):
        response = await service.client.get(f"/api/runs/{path.run_id}/compare", params={"with": other.run_id})
        assert response.status_code == 410
