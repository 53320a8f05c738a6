"""The headlines of the shipped tree's recorded runs, word for word, and the rules behind them."""

from pathlib import Path

import pytest
import yaml

from oracle.agent.nodes import REGISTRY
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.store import Store
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.replay.histories.logs import log_of
from tests.oracle.replay.test_replays import SCRIPTS, recorded
from tests.oracle.runs.running import managed

GOLDEN = yaml.safe_load((Path(__file__).parent / "headlines.yaml").read_text(encoding="utf-8"))

PLAIN_IS_ENOUGH: dict[str, str] = {}
"""Kinds without words, each with the reason why a plain sentence is enough for it."""


def test_every_kind_says_what_it_did_or_a_reason_why_not():
    from bt_runtime import Node  # noqa: PLC0415  the base class, whose words are none

    wordless = {kind.name for kind in REGISTRY.kinds.values() if getattr(kind.factory, "words", None) is Node.words}
    assert wordless == PLAIN_IS_ENOUGH.keys()


@pytest.mark.parametrize("name", SCRIPTS)
async def test_the_headlines_of_a_recorded_run(store: Store, archive: Archive, name: str):
    history = (await log_of(archive, await recorded(store, name))).explained()
    assert [tick.headline for tick in history.ticks] == GOLDEN[name]["ticks"]
    assert history.end is not None
    assert history.end.sentence == GOLDEN[name]["end"]


async def test_the_way_to_a_decision_is_told_in_steps(store: Store, archive: Archive):
    history = (await log_of(archive, await recorded(store, "stuck twice"))).explained()
    assert history.tree is not None
    told = ["".join(piece.text for piece in step.pieces) for step in history.ticks[1].why]
    assert told == GOLDEN["why of tick 2 of stuck twice"]


async def _fails(_arguments):
    raise ValueError("no such folder")


async def test_errors_of_tools_are_counted(store: Store, archive: Archive):
    turns = [says("", calls("broken"), calls("broken", n=2)), answers()]
    async with managed(store, turns, tools=[made_tool(_fails, "broken")]) as it:
        record = (await it.ask()).record
    history = (await log_of(archive, record)).explained()
    assert (
        history.ticks[1].headline
        == "Turn 1 calls 2 tools: broken and broken. Because tool_calls is 2, broken and broken begin."
    )
    assert history.ticks[2].headline.startswith("broken and broken returned 2 errors.")
    errors = [visit for visit in history.ticks[3].visits if nodes_kind(history, visit.node) == "error_limit"]
    assert [(visit.text, visit.figures[0].value, visit.figures[0].limit) for visit in errors] == [
        ("2 of 3 in a row", 2, 3)
    ]


def nodes_kind(history, index):
    return history.tree.nodes[index].kind


async def test_a_node_that_raises_is_the_news_of_its_tick(store: Store, archive: Archive):
    async with managed(store, [answers()]) as it:
        it.harness.write_tree(
            "own",
            "tree: own\nblackboard: {risk: any}\n"
            "root: {sequence: [{selector: [{condition: risk > 0.7}, llm_turn]}, {stop: completed}]}\n",
        )
        record = (await it.ask(tree="own")).record
    history = (await log_of(archive, record)).explained()
    assert history.ticks[0].headline.startswith(
        "The run begins. condition raised an error, which counts as no: ExpressionError: "
    )
    (visit,) = [visit for visit in history.ticks[0].visits if nodes_kind(history, visit.node) == "condition"]
    assert visit.text == "risk null → error"
