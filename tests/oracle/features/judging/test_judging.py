"""Judgments of recorded runs of a real store."""

from dataclasses import replace

import pytest

import trees
from bt_runtime import EventPattern, Rule, TreeLibrary
from bt_runtime.library.named import TreeSource
from oracle.agent.nodes import REGISTRY
from oracle.features.judging.judging import Judge
from oracle.runs.storage.archive import Archive, open_archive
from oracle.runs.storage.store import Store, open_store
from tests.acceptance.harness import ACTION_QUESTION, answers, calls, says
from tests.oracle.replay.test_replays import SCRIPTS, recorded
from tests.oracle.runs.running import managed

ONE_TURN = Rule("one_turn", "One turn.", "at_most", (EventPattern("turn"),), times=1)
EXPLAINED = Rule("explained", "It is explained.", "existence", (EventPattern("explained"),))

RULED = """\
tree: ruled
rules:
  - name: no_listing
    text: Nothing is listed.
    absence: {tool: vault_list}
    enforce: refuse
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn
    - force_success: {subtree: use_tools}
    - llm_turn
    - stop: completed
"""


async def judged(archive: Archive, *rules: Rule, tree: str = "oracle") -> dict[str, tuple[int, int, int, int]]:
    judge = Judge(rules)
    for record in await archive.runs(tree=tree, with_forgotten=True):
        await judge.read(archive, record)
    return {each.rule.name: (each.held, each.violated, each.undecided, each.refused) for each in judge.judgments}


async def test_each_run_holds_or_violates_each_rule(store: Store, archive: Archive):
    for name in ("an answer", "another turn", "a limit"):
        await recorded(store, name)
    assert await judged(archive, ONE_TURN, EXPLAINED) == {"one_turn": (1, 2, 0, 0), "explained": (1, 2, 0, 0)}


async def test_the_rules_of_the_shipped_trees_hold(store: Store, archive: Archive):
    rules = TreeLibrary([trees.FOLDER], registry=REGISTRY).load("oracle").rules
    for name in SCRIPTS:
        await recorded(store, name)
    found = await judged(archive, *rules)
    assert len(found) == len(rules) > 8
    assert set(found.values()) == {(len(SCRIPTS), 0, 0, 0)}


async def test_a_run_whose_texts_are_gone_is_undecided(store: Store, archive: Archive):
    await recorded(store, "an answer")
    record = await recorded(store, "another turn")
    await store.conversations.forget(record.user_id, record.context_id)
    assert await judged(archive, ONE_TURN) == {"one_turn": (1, 0, 1, 0)}


async def test_a_call_that_was_refused_is_no_violation_and_is_counted(store: Store, archive: Archive):
    async with managed(store, [says("", calls("vault_list", folder=".")), answers()]) as it:
        it.harness.write_tree("ruled", RULED)
        told = await it.ask(ACTION_QUESTION, tree="ruled")
    assert told.record.termination_reason == "completed"
    rule = Rule("no_listing", "Nothing is listed.", "absence", (EventPattern("tool", ("vault_list",)),))
    assert await judged(archive, rule, tree="ruled") == {"no_listing": (1, 0, 0, 1)}


@pytest.mark.parametrize("broken", ["tick", "turn_end"])
async def test_a_damaged_log_is_undecided(store: Store, archive: Archive, broken: str, monkeypatch):
    record = await recorded(store, "an answer")
    events = await archive.events(record.id)
    assert any(event.kind == broken for event in events)
    judge = Judge([ONE_TURN])

    class Damaged:
        async def tree(self, sha):
            return await archive.tree(sha)

        async def events(self, run_id):
            return [replace(event, data=b'{"a": 1}') if event.kind == broken else event for event in events]

    await judge.read(Damaged(), record)
    assert judge.judgments[0].undecided == 1


async def test_runs_on_postgresql_are_judged_while_the_store_is_open(postgresql_url: str):
    async with open_store(postgresql_url, worker="w1") as store, open_archive(postgresql_url) as archive:
        for name in ("an answer", "a limit"):
            await recorded(store, name)
        assert await judged(archive, ONE_TURN, EXPLAINED) == {"one_turn": (1, 1, 0, 0), "explained": (1, 1, 0, 0)}


FLOWING = """\
tree: flowing
labels: { vault_list: { writes: outward } }
rules:
  - name: nothing_leaks
    text: Nothing leaks.
    no_flow: { from: untrusted, to: outward }
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn
    - force_success: {subtree: use_tools}
    - llm_turn
    - force_success: {subtree: use_tools}
    - llm_turn
    - stop: completed
"""


@pytest.mark.parametrize("names", [("vault_search", "vault_list"), ("vault_list", "vault_search")])
async def test_what_flowed_in_a_record_is_judged_by_the_labels_of_its_tools(store: Store, archive: Archive, names):
    arguments = {"vault_search": {"query": "plan"}, "vault_list": {"folder": "."}}
    script = [*(says("", calls(name, **arguments[name])) for name in names), answers()]
    async with managed(store, script) as it:
        it.harness.write_tree("flowing", FLOWING)
        await it.ask(ACTION_QUESTION, tree="flowing")
    source = TreeSource("flowing.yaml", FLOWING)
    tree = TreeLibrary([trees.FOLDER], registry=REGISTRY).load_source(source)
    judge = Judge(tree.rules)  # the run has recorded the labels that the tree has given
    for record in await archive.runs(tree="flowing", with_forgotten=True):
        await judge.read(archive, record)
    [judgment] = [each for each in judge.judgments if each.rule.name == "nothing_leaks"]
    leaks = names[1] == "vault_list"
    assert (judgment.held, judgment.violated) == (not leaks, leaks)
