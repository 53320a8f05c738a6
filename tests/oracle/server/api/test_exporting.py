"""A recorded run as a file, over HTTP."""

import json

import pytest

from oracle.replay.exports import formats
from oracle.replay.histories.foreign import history_from_json
from oracle.server.api import whole_runs
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.replay.exports.stand_in import stand_in_page
from tests.oracle.server.api.conftest import ALICE, BOB, OLGA, OPERATOR, TOKENS

CALL = ScriptedTurn(text="Looking. ", tool_calls=(ScriptedCall("list_files", {}),))
QUESTION = "Which files does the <code> have?"


async def exported(service, run_id: str, **params):
    return await service.client.get(f"/api/runs/{run_id}/export", params=params)


async def test_json_is_what_the_importer_reads(start):
    service = await start([CALL, ScriptedTurn(text="Done.")])
    run = await service.ask(QUESTION)
    response = await exported(service, run.run_id)
    assert response.headers["content-disposition"] == f'attachment; filename="run-{run.run_id[:8]}.json"'
    assert history_from_json(response.content).run.question == QUESTION


@pytest.mark.parametrize(
    ("format_", "media", "start_of_file"),
    [
        ("html", "text/html; charset=utf-8", "<!doctype html>"),
        ("svg", "image/svg+xml", "<svg"),
        ("dot", "text/vnd.graphviz; charset=utf-8", "digraph"),
        ("mermaid", "text/plain; charset=utf-8", "flowchart"),
    ],
)
async def test_pages_and_pictures_are_attachments(start, monkeypatch, tmp_path, format_, media, start_of_file):
    stand_in_page(monkeypatch, tmp_path)
    service = await start([CALL, ScriptedTurn(text="Done.")])
    response = await exported(service, (await service.ask(QUESTION)).run_id, format=format_, tick=2)
    assert (response.status_code, response.headers["content-type"]) == (200, media)
    assert response.text.lower().startswith(start_of_file)
    assert response.headers["content-disposition"].startswith("attachment")
    assert response.headers["cache-control"] == "no-store"


async def test_a_page_that_is_not_built_is_refused_with_how_to_build_it(start, monkeypatch, tmp_path):
    monkeypatch.setattr(formats, "EXPORT_PAGE", tmp_path / "export.html")
    service = await start()
    response = await exported(service, (await service.ask(QUESTION)).run_id, format="html")
    assert response.status_code == 503
    assert "`python web/tasks.py build`" in response.json()["detail"]


async def test_without_texts_figures_are_left(start):
    service = await start([CALL, ScriptedTurn(text="Done.")])
    response = await exported(service, (await service.ask(QUESTION)).run_id, texts="false")
    assert "Looking" not in response.text
    assert len(json.loads(response.text)["turns"]) == 2


async def test_another_tick_than_there_is_and_another_format_are_refused(start):
    service = await start()
    run_id = (await service.ask()).run_id
    refused = await exported(service, run_id, format="svg", tick=99)
    assert refused.status_code == 422
    assert "has no tick 99" in refused.json()["detail"][0]["msg"]
    assert (await exported(service, run_id, format="pdf")).status_code == 422


async def test_it_is_for_the_runs_user_and_operators(start):
    service = await start(tokens=TOKENS | OPERATOR, operators=("olga",))
    run = await service.ask(headers=ALICE)
    for headers, status in ((ALICE, 200), (BOB, 404), (OLGA, 200)):
        response = await service.client.get(f"/api/runs/{run.run_id}/export", headers=headers)
        assert response.status_code == status


async def test_very_long_runs_are_refused(start, monkeypatch):
    service = await start()
    run = await service.ask()
    monkeypatch.setattr(whole_runs, "MOST_TICKS", 1)
    refused = await exported(service, run.run_id)
    assert refused.status_code == 422
    assert "oracle runs export" in refused.json()["detail"][0]["msg"]


async def test_a_run_whose_texts_are_gone_is_not_exported(start):
    service = await start()
    gone = await service.ask()
    await service.client.delete(f"/api/oracle/conversations/{gone.done['context_id']}")
    assert (await exported(service, gone.run_id)).status_code == 410
