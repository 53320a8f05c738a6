"""Where two runs part."""

from dataclasses import replace

import pytest

from oracle.agent.nodes import REGISTRY
from oracle.replay.histories.diffs import diff_histories
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.store import Store
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.replay.histories.logs import Log, log_of
from tests.oracle.replay.histories.long_logs import COUNTING, long_log
from tests.oracle.replay.test_replays import MORE, SCRIPTS, Open, recorded
from tests.oracle.runs.running import managed


async def pair(store: Store, archive: Archive, first: str, second: str) -> tuple[Log, Log]:
    one, two = await recorded(store, first), await recorded(store, second)
    return await log_of(archive, one), await log_of(archive, two)


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_run_is_the_same_as_itself(store: Store, archive: Archive, name: str):
    history = (await log_of(archive, await recorded(store, name))).explained()
    found = diff_histories(history, history, registry=REGISTRY)
    assert found.is_same
    assert found.tree == ()
    assert found.ticks == ()
    assert all(answer.is_same for answer in found.answers)


async def test_two_answers_part_where_the_model_says_something_else(store: Store, archive: Archive):
    one, two = await pair(store, archive, "an answer", "another turn")
    found = diff_histories(one.explained(), two.explained(), registry=REGISTRY)
    assert found.input is not None
    assert (found.input.kind, found.input.tick) == ("outcome", 2)
    assert "This is the answer." in found.input.old
    assert "Part one." in found.input.new
    assert found.way is not None
    assert (found.way.kind, found.way.tick) == ("way", 2)
    assert found.way.path
    assert found.way.old_node == found.way.new_node is not None
    assert found.way.values
    assert {value.name for value in found.way.values} & {"signal", "turn", "answered"}
    assert found.ticks[0].tick == 2
    assert (found.old_end, found.new_end) == ("completed", "completed")
    assert [(answer.turn, answer.is_same) for answer in found.answers] == [(1, False), (2, False)]


async def test_other_limits_are_a_difference_of_the_beginning(store: Store, archive: Archive):
    logs = []
    for most in (2, 3):
        turns = [says(f"Part {n}. {MORE.replace('more', str(n))}") for n in range(most)]
        async with managed(store, turns) as it:
            record = (await it.ask(limits={"max_iterations": most})).record
        logs.append(await log_of(archive, record))
    found = diff_histories(logs[0].explained(), logs[1].explained())
    assert found.tree is None
    assert found.input is not None
    assert found.input.kind == "beginning"
    assert any((value.old, value.new) == (2, 3) for value in found.input.values)


async def test_another_result_of_a_tool(store: Store, archive: Archive):
    logs = []
    for text in ("one", "two"):
        async with managed(store, [says("", calls("probe")), answers()], tools=[made_tool(Open(text))]) as it:
            logs.append(await log_of(archive, (await it.ask()).record))
    found = diff_histories(logs[0].explained(), logs[1].explained(), registry=REGISTRY)
    assert found.input is not None
    assert (found.input.kind, found.input.old, found.input.new) == ("outcome", "probe: 'one'", "probe: 'two'")
    assert found.ticks == ()
    assert found.way is not None
    assert found.way.kind == "effect"  # the next request has another result in it
    values = found.way.values
    assert [each.name for each in values] == ["messages to the model"]
    assert [("one" in str(each.old), "two" in str(each.new)) for each in values] == [(True, True)]
    assert "content" not in found.way.old


def test_an_edited_tree_parts_where_it_does_something_else():
    one = long_log(6).explained()
    two = long_log(6, COUNTING.replace("count >= 0", "count < 1")).explained()
    found = diff_histories(one, two, registry=REGISTRY)
    assert found.input is None
    assert found.way is not None
    assert (found.way.kind, found.way.tick, found.way.path) == ("way", 4, "repeat/sequence/condition")
    assert found.tree is not None
    assert ["count < 1" in change.text for change in found.tree] == [True]
    assert found.ticks[0].nodes[0].path == "repeat"


def test_a_run_that_goes_on_after_the_other_has_ended():
    log = long_log(6)
    whole, part = log.explained(), log.explained(log.events[:5])
    found = diff_histories(part, whole, registry=REGISTRY)
    assert found.way is not None
    assert (found.way.kind, found.way.tick) == ("end", 5)


async def test_histories_without_trees_or_reasons_are_compared_by_what_they_have(store: Store, archive: Archive):
    one, two = await pair(store, archive, "an answer", "a tool")
    for old, new in ((replace(one, version=None), two), (replace(one, version=None), replace(two, version=None))):
        found = diff_histories(old.explained(), new.explained(), registry=REGISTRY)
        assert found.tree is None
        assert not found.is_same
        assert found.input is not None
