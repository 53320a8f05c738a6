"""`GET /api/trees`: what a list of trees shows beside their names."""

from pathlib import Path

import pytest

from oracle.server.api.tree_replies import TreeBody, TreeList
from oracle.testing import ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, BOB, OLGA, OPERATOR, TOKENS

OUTER = "tree: outer\nroot: {sequence: [compose_prompt, {subtree: inner}, {stop: completed}]}\n"
INNER = "tree: inner\ninternal: true\nroot: llm_turn\n"
LOOPING = """
tree: outer
root:
  sequence:
    - classify_query
    - compose_prompt
    - loop:
        until: termination_reason
        guards: [cancelled, turn_budget, token_budget, deadline]
        child:
          sequence: [llm_turn: {tools: false}, selector: [condition: signal == "need_turn", stop: completed]]
"""
STOPPED = "tree: stopped\nroot: {sequence: [compose_prompt, llm_turn, {stop: stuck}]}\n"
SCENARIOS = "tree: outer\nscenarios:\n  - {name: one, question: Hi, model: [Hello.], expect: {reason: completed}}\n"
SCENARIOS += "  - {name: two, question: Hi, model: [Hello.], expect: {reason: stuck}}\n"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "my-trees"
    (folder / "scenarios").mkdir(parents=True)
    for name, text in (("outer", OUTER), ("inner", INNER), ("stopped", STOPPED), ("fallback", None)):
        (folder / f"{name}.yaml").write_text(text or "tree: fallback\ninternal: true\nroot: llm_turn\n")
    (folder / "scenarios" / "own.yaml").write_text(SCENARIOS, encoding="utf-8")
    return folder


async def listed(service, *, headers=None):
    body = (await service.client.get("/api/trees", headers=headers)).json()
    assert TreeList.model_validate(body).model_dump(mode="json") == body
    return {each["name"]: each for each in body["trees"]} | {"folder": body["folder"]}


async def test_runs_of_the_last_day_are_counted_by_outcome(start, folder, database_url):
    service = await start(
        [ScriptedTurn(text="Hello.")],
        trees_folder=folder,
        url=database_url,
        tokens=TOKENS | OPERATOR,
        operators=("olga",),
    )
    for who, tree in ((ALICE, "outer"), (ALICE, "outer"), (BOB, "outer"), (ALICE, "stopped")):
        await service.ask(tree=tree, headers=who)
    trees = await listed(service, headers=OLGA)
    assert trees["outer"]["runs_of_day"] == {"running": 0, "completed": 3, "stopped": 0, "failed": 0}
    assert trees["stopped"]["runs_of_day"] == {"running": 0, "completed": 0, "stopped": 1, "failed": 0}
    assert sum(trees["oracle"]["runs_of_day"].values()) == 0
    assert (await listed(service, headers=BOB))["outer"]["runs_of_day"]["completed"] == 1


async def test_runs_of_earlier_days_are_not_counted(start, folder, monkeypatch):
    service = await start(trees_folder=folder)
    await service.ask(tree="outer")
    monkeypatch.setattr("oracle.server.api.tree_bodies.DAY_S", -60.0)
    assert sum((await listed(service))["outer"]["runs_of_day"].values()) == 0


async def test_versions_and_their_age_are_for_operators(start, folder, database_url):
    service = await start(trees_folder=folder, url=database_url, tokens=TOKENS | OPERATOR, operators=("olga",))
    before = await listed(service, headers=OLGA)
    assert (Path(before["folder"]).name, before["outer"]["version_count"]) == ("my-trees", 1)
    body = {"source": OUTER.replace("completed", "stuck"), "version": before["outer"]["version"]}
    saved = (await service.client.put("/api/trees/outer", json=body, headers=OLGA)).json()
    assert TreeBody.model_validate(saved).model_dump(mode="json") == saved
    after = await listed(service, headers=OLGA)
    versions = (await service.client.get("/api/trees/outer/versions", headers=OLGA)).json()["versions"]
    assert (after["outer"]["version_count"], after["outer"]["changed_at"]) == (2, versions[0]["at"])
    assert after["inner"] == before["inner"]
    users = await listed(service, headers=ALICE)
    assert (users["folder"], users["outer"]["version_count"], users["outer"]["changed_at"]) == (None, None, None)


async def test_an_operators_tree_in_the_place_of_a_shipped_one_is_marked(start, folder):
    trees = await listed(await start(trees_folder=folder))
    shadowing = [name for name, tree in trees.items() if name != "folder" and tree["shadows"]]
    assert shadowing == ["fallback"]
    assert (trees["outer"]["node_count"], trees["inner"]["node_count"]) == (5, 1)


@pytest.mark.long("tries a tree in a process")
async def test_results_of_trials_are_remembered_for_what_is_served(start, folder, database_url):
    service = await start(trees_folder=folder, url=database_url)
    assert [(await listed(service))["outer"][each] for each in ("verified", "tested")] == [None, None]
    verified = await service.client.post("/api/trees/verify", json={"name": "outer", "turns": 1})
    assert verified.status_code == 200, verified.text
    tested = await service.client.post("/api/trees/test", json={"name": "outer"})
    own = next(each for each in tested.json()["files"] if each["file"] == "own.yaml")
    assert [(each["tree"], each["visited_trees"]) for each in own["scenarios"]] == [("outer", ["inner", "outer"])] * 2
    trees = await listed(service)
    assert trees["outer"]["verified"]["verdict"] == verified.json()["verdict"]
    for name in ("outer", "inner"):
        assert (trees[name]["tested"]["passed"], trees[name]["tested"]["scenarios"]) == (1, 2)
    assert trees["stopped"]["tested"]["scenarios"] == 0
    assert trees["stopped"]["verified"] is None
    again = await start(trees_folder=folder, url=database_url, worker="worker-2") if database_url else service
    assert await listed(again) == trees
    (folder / "inner.yaml").write_text(INNER.replace("llm_turn", "{llm_turn: {tools: false}}"), encoding="utf-8")
    changed = await listed(service)
    assert [changed["outer"][each] for each in ("verified", "tested")] == [None, None]


@pytest.mark.long("tries a tree in a process")
async def test_a_verdict_within_weaker_bounds_does_not_replace_a_stronger_one(start, folder, database_url):
    (folder / "outer.yaml").write_text(LOOPING, encoding="utf-8")
    service = await start(trees_folder=folder, url=database_url)

    async def shown(**bounds):
        answer = await service.client.post("/api/trees/verify", json={"name": "outer", **bounds})
        assert answer.status_code == 200, answer.text
        verified = (await listed(service))["outer"]["verified"]
        return verified["verdict"], verified["turns"], verified["stopped_at"]

    assert await shown(turns=3, states=2) == ("not_decided", 2, "2 states")  # stopped while it explores two turns
    assert await shown(turns=1) == ("proven", 1, None)
    assert await shown(turns=2) == ("proven", 2, None)
    assert await shown(turns=3, states=2) == ("proven", 2, None)
    assert await shown(turns=1) == ("proven", 2, None)


@pytest.mark.long("tries a tree in a process")
async def test_a_counterexample_stands_within_any_bounds(start, folder):
    (folder / "outer.yaml").write_text("tree: outer\nroot: {sequence: [classify_query, stop: completed]}\n")
    service = await start(trees_folder=folder)
    for bounds in ({"turns": 1}, {"turns": 5, "states": 1}):
        await service.client.post("/api/trees/verify", json={"name": "outer", **bounds})
        assert (await listed(service))["outer"]["verified"]["verdict"] == "refuted"


@pytest.mark.long("tries a tree in a process")
async def test_a_trial_of_another_text_says_nothing_of_the_present_one(start, folder):
    service = await start(trees_folder=folder)
    body = {"name": "outer", "source": OUTER.replace("completed", "stuck")}
    assert (await service.client.post("/api/trees/test", json=body)).status_code == 200
    assert (await listed(service))["outer"]["tested"] is None
