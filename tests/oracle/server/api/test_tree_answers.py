"""`GET /api/trees/{name}/answers`: how often each node of a file has answered yes and no."""

from collections import Counter

import pytest

from oracle.server.api.tree_replies import TreeAnswersBody
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, HANGS, OLGA

INNER = """tree: inner
internal: true
root:
  selector:
    - condition: "turn > 3"
    - sequence:
        - condition: "turn < 3"
        - llm_turn
"""
OUTER = "tree: outer\nroot: {sequence: [compose_prompt, {subtree: inner}, {subtree: inner}, {stop: completed}]}\n"
SEARCHING = ScriptedTurn(
    text='On. <signal type="need_turn"><reason>r</reason></signal>', tool_calls=(ScriptedCall("list_files", {}),)
)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "inner.yaml").write_text(INNER, encoding="utf-8")
    (folder / "outer.yaml").write_text(OUTER, encoding="utf-8")
    return folder


async def answers(service, name, *, headers=None, **query):
    response = await service.client.get(f"/api/trees/{name}/answers", params=query, headers=headers)
    assert response.status_code == 200, response.text
    assert TreeAnswersBody.model_validate(response.json()).model_dump(mode="json") == response.json()
    return response.json()


def by_line(body):
    return {(each["line"], each["path"]): (each["yes"], each["no"]) for each in body["nodes"]}


async def test_a_part_has_the_answers_of_all_its_copies_in_all_runs(start, folder, database_url):
    service = await start(trees_folder=folder, url=database_url)
    for _ in range(3):
        await service.ask(tree="outer")
    body = await answers(service, "inner")
    assert (body["runs"], body["is_complete"], body["is_current"]) == (3, True, True)
    assert by_line(body) == {
        (4, "selector"): (6, 0),
        (5, "selector/condition"): (0, 6),  # of two copies in three runs
        (6, "selector/sequence"): (6, 0),
        (7, "selector/sequence/condition"): (6, 0),
        (8, "selector/sequence/llm_turn"): (6, 0),
    }
    assert (await answers(service, "inner", runs=2))["runs"] == 2
    assert (await answers(service, "oracle"))["runs"] == 0


@pytest.mark.parametrize("turns", [[], [SEARCHING, SEARCHING, ScriptedTurn(text="Done.")]], ids=["short", "long"])
async def test_they_are_what_an_explained_run_shows(start, turns):
    service = await start(turns)
    streamed = await service.ask("Which files does the code have?")
    run = (await service.client.get(f"/api/runs/{streamed.run_id}/history", params={"limit": 1000})).json()
    nodes = run["tree"]["nodes"]
    expected: Counter[tuple[int, bool]] = Counter()
    for tick in run["ticks"]:
        last = {visit["node"]: visit["status"] for visit in tick["visits"]}
        for node, status in last.items():
            if nodes[node]["file"].endswith("oracle.yaml") and status != "RUNNING":
                expected[nodes[node]["line"], nodes[node]["column"], status == "SUCCESS"] += 1
    found: Counter[tuple[int, bool]] = Counter()
    for each in (await answers(service, "oracle"))["nodes"]:
        found[each["line"], each["column"], True] += each["yes"]
        found[each["line"], each["column"], False] += each["no"]
    assert +found == +expected


async def test_another_version_begins_anew(start, folder):
    service = await start(trees_folder=folder)
    await service.ask(tree="outer")
    version = (await service.client.get("/api/trees/inner")).json()["version"]
    text = INNER.replace("turn > 3", "turn > 4")
    saved = await service.client.put("/api/trees/inner", json={"source": text, "version": version})
    assert saved.status_code == 200
    assert (await answers(service, "inner"))["runs"] == 0
    await service.ask(tree="outer")
    assert (await answers(service, "inner"))["runs"] == 1


async def test_runs_under_way_and_forgotten_ones_are_not_counted(start, folder):
    service = await start([ScriptedTurn(text="Hello."), ScriptedTurn(text="Hello."), HANGS], trees_folder=folder)
    streamed = await service.ask(tree="outer")
    assert (await answers(service, "inner"))["runs"] == 1
    await service.client.delete(f"/api/oracle/conversations/{streamed.done['context_id']}")
    async with service.asking(tree="outer") as under_way:
        await under_way.until("here")
        body = await answers(service, "inner")
        await service.client.post(f"/api/oracle/runs/{under_way.run_id}/cancel")
        await under_way.rest()
    assert (body["runs"], {each["yes"] + each["no"] for each in body["nodes"]}) == (0, {0})


async def test_what_there_is_no_time_for_is_counted_the_next_time(start, folder):
    service = await start(trees_folder=folder)
    for _ in range(3):
        await service.ask(tree="outer")
    times = iter([0.0, 0.0, 9.0, 10.0, 10.0, 19.0, 20.0, 20.0])
    service.parts.answers()._clock = lambda: next(times)
    counted = [await answers(service, "inner") for _ in range(3)]
    assert [(each["runs"], each["is_complete"]) for each in counted] == [(1, False), (2, False), (3, True)]


async def test_a_tree_that_was_never_right_has_no_nodes(start, folder):
    (folder / "wrong.yaml").write_text("tree: wrong\nroot: [", encoding="utf-8")
    service = await start(trees_folder=folder)
    body = await answers(service, "wrong")
    assert (body["nodes"], body["run_version"], body["is_current"]) == ([], None, False)


async def test_only_operators_count_what_all_users_asked(guarded):
    assert (await guarded.client.get("/api/trees/oracle/answers", headers=ALICE)).status_code == 403
    await guarded.ask(headers=ALICE)
    assert (await answers(guarded, "oracle", headers=OLGA))["runs"] == 1
    assert (await guarded.client.get("/api/trees/nothing/answers", headers=OLGA)).status_code == 404
