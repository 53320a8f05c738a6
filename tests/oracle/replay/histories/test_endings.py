"""Why a run ended and which node decided that, for every way in which a run can end."""

from dataclasses import dataclass

import pytest

from oracle.llm.protocol import ModelFault
from oracle.replay.histories.model import History
from oracle.runs.manager import STOPPING
from oracle.runs.storage.archive import Archive, open_archive
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.store import Store
from oracle.testing import ScriptedTurn
from tests.acceptance.harness import NEED_TURN, answers, calls, made_tool, says
from tests.oracle.replay.histories import naive
from tests.oracle.replay.histories.logs import log_of
from tests.oracle.replay.test_replays import RULED, SCRIPTS, Open, recorded
from tests.oracle.runs.running import Managed, managed
from tests.oracle.runs.test_recovery import restarted, until_killed


async def explained(archive: Archive, record: RunRecord) -> History:
    """The history, whose decisions are those of a naive reading as far as the run can be repeated."""
    log = await log_of(archive, record)
    history = log.explained()
    if history.unexplained_from is None:
        naive.check(history, log)
    return history


def decided_by(history: History) -> tuple[str, str | None]:
    """What ended it, and the kind of the node that did."""
    assert history.end is not None
    assert history.tree is not None
    node = history.end.node
    return history.end.by, None if node is None else history.tree.nodes[node].kind


OF_SCRIPTS = {
    "an answer": ("stop", "stop"),
    "a tool": ("stop", "stop"),
    "the project's tools": ("stop", "stop"),
    "stuck twice": ("stop", "stop"),
    "another turn": ("stop", "stop"),
    "the provider fails": ("provider", "llm_turn"),
    "no progress": ("guard", "no_progress"),
    "empty responses": ("stop", "stop"),
    "a limit": ("guard", "turn_budget"),
    "a refusal": ("provider", "llm_turn"),
    "cut off": ("stop", "stop"),
}


@pytest.mark.parametrize("name", SCRIPTS)
async def test_the_end_of_each_recorded_run_names_the_node_that_a_naive_reading_finds(
    store: Store, archive: Archive, name: str
):
    history = await explained(archive, await recorded(store, name))
    assert history.unexplained_from is None
    assert decided_by(history) == OF_SCRIPTS[name]
    assert history.end is not None
    assert history.end.reason == history.run.termination_reason


@dataclass(frozen=True)
class Way:
    """A tree and a script, and how the run ends on it."""

    root: str
    turns: tuple[ScriptedTurn, ...]
    by: str
    kind: str | None
    sentence: str
    reason: str
    more: str = ""
    limits: tuple[tuple[str, int], ...] = ()


FAILS = ScriptedTurn("Half", fault=ModelFault("provider_failed", "It failed.", "status 500"))
WAYS = {
    "an answer without a stop": Way(
        "llm_turn:",
        (answers(),),
        *(
            "answer",
            "llm_turn",
            "The tree ended after turn 1 had answered, and gave no reason.",
            "completed",
        ),
    ),
    "the provider": Way(
        "llm_turn:", (FAILS,), *("provider", "llm_turn", "The model's provider failed in turn 1: It failed.", "error")
    ),
    "a node that raises": Way(
        "sequence: [llm_turn, {condition: found > 3}]",
        (answers(),),
        *("error", "condition"),
        "condition raised an error, and the tree ended without a reason: ExpressionError: ",
        "error",
        "blackboard: {found: any}",
    ),
    "a tree that ends before the answer": Way(
        "condition: turn > 3",
        (),
        *("settled", "condition"),
        "The tree ended without a reason, which is an error: it ended before the model had answered.",
        "error",
    ),
    "a hot loop": Way(
        "loop: {child: {condition: turn == 0}}",
        (),
        *("control", "condition", "The run of the tree was ended: 'loop' went on for 1000 ticks", "error"),
    ),
    "a limit that the tree has no guard for": Way(
        "loop: {child: {sequence: [llm_turn, grant_turn]}}",
        tuple(says(f"Part {n}. {NEED_TURN}") for n in range(3)),
        *(
            "floor",
            None,
            "The limit of turns was reached, 2 of 2 turns, when llm_turn was about to continue; no node",
            "max_iterations",
        ),
        limits=(("max_iterations", 2),),
    ),
    "a reason that the facts do not support": Way(
        "stop: completed",
        (),
        *("settled", "stop"),
        "stop stopped the run as completed, but the facts do not support that: ",
        "error",
    ),
    "an answer that is empty": Way(
        "sequence: [llm_turn, {stop: completed}]",
        (says(""),),
        *("settled", "stop"),
        "stop stopped the run as completed, but the model wrote no answer: it counts as stuck.",
        "stuck",
    ),
    "a reason of another kind's making": Way(
        "sequence: [llm_turn, {condition: turn == 1}, {stop: stuck}]",
        (answers(),),
        *("stop", "stop", "Because turn is 1, the run stops as stuck.", "stuck"),
    ),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_each_way_to_end_names_the_node_and_the_reason(store: Store, archive: Archive, way: Way):
    async with managed(store, way.turns) as it:
        it.harness.write_tree("own", f"tree: own\n{way.more}\nroot: {{{way.root}}}\n".replace(":}", ":  }"))
        record = (await it.ask(tree="own", limits=dict(way.limits))).record
    assert record.termination_reason == way.reason
    history = await explained(archive, record)
    assert history.end is not None
    assert history.end.sentence.startswith(way.sentence), history.end.sentence
    assert decided_by(history) == (way.by, way.kind)
    assert history.end.cause == ("status 500." if way.by == "provider" else "")


async def hanging(it: Managed, tree: str) -> RunRecord:
    live = await it.start(tree=tree)
    await it.until_text(live.record, "Half")
    return live.record


@pytest.mark.parametrize(
    ("tree", "by", "kind", "sentence"),
    [
        ("oracle", "guard", "cancelled", "The user has cancelled, or did not come back."),
        ("own", "floor", None, "The user cancelled, or did not come back, while llm_turn was running; no node"),
    ],
)
async def test_a_cancel_is_told_by_the_guard_or_by_the_floor(store, archive, tree, by, kind, sentence):
    async with managed(store, [says("Half of it", hang=True)]) as it:
        it.harness.write_tree("own", "tree: own\nroot: {llm_turn: }\n")
        live = await it.start(tree=tree)
        await it.until_text(live.record, "Half")
        live.cancel()
        record = (await it.told(live.record)).record
    history = await explained(archive, record)
    assert decided_by(history) == (by, kind)
    assert history.end is not None
    assert history.end.sentence.startswith(sentence)
    given_back = [visit for tick in history.ticks for visit in tick.given_back]
    assert [visit.text.rpartition(" · ")[2] for visit in given_back] == ["interrupted"]
    assert any(key == "tokens_used" for visit in given_back for key, _ in visit.writes)


@pytest.mark.parametrize(("tree", "by", "kind"), [("oracle", "guard", "deadline"), ("own", "floor", None)])
async def test_a_time_limit_is_told_by_the_guard_or_by_the_floor(store, archive, tree, by, kind):
    async with managed(store, [says("Half of it", hang=True)]) as it:
        it.harness.write_tree("own", "tree: own\nroot: {llm_turn: }\n")
        record = await hanging(it, tree)
        it.clock.advance(120)
        record = (await it.told(record)).record
    history = await explained(archive, record)
    assert decided_by(history) == (by, kind)
    assert history.end is not None
    assert "120 s" in history.end.sentence


async def test_a_rule_that_ends_the_run_is_named(store: Store, archive: Archive):
    turns = [says("", calls("search_code", query=query)) for query in ("log_in", "retry")]
    async with managed(store, [*turns, answers()]) as it:
        it.harness.write_tree("ruled", RULED.replace("ENFORCE", "stop"))
        record = (await it.ask(tree="ruled")).record
    history = await explained(archive, record)
    assert decided_by(history) == ("rule", None)
    assert history.end is not None
    assert history.end.sentence.startswith("The rule one_search ended the run, broken by ")
    assert history.end.sentence.endswith(": One search is enough.")


async def test_a_service_that_stops_says_what_was_under_way(store: Store, archive: Archive):
    async with managed(store, [says("Half of it", hang=True)]) as it:
        record = await hanging(it, "oracle")
        it.manager._live[record.id].abort(STOPPING)  # as a drain does where nobody else could go on with it
        record = (await it.told(record)).record
    history = await explained(archive, record)
    assert decided_by(history) == ("service", None)
    assert history.end is not None
    assert history.end.sentence.startswith("The service was stopping")


async def test_a_run_of_a_killed_process_says_so(url: str):
    record = await until_killed(url, [says("Half of the", hang=True)])
    async with restarted(url) as it, open_archive(url) as archive:
        record = (await it.told(record)).record
        history = await explained(archive, record)
    assert decided_by(history) == ("service", None)
    assert history.end is not None
    assert history.end.sentence.startswith(
        "The service was interrupted, and the run was ended from its log, while llm_turn was running"
    )


async def test_a_tool_call_under_way_is_what_is_running(store: Store, archive: Archive):
    async with managed(store, [says("", calls("probe")), answers()], tools=[made_tool(Open())]) as it:
        record = (await it.ask()).record
    history = await explained(archive, record)
    assert history.ticks[1].headline == "Turn 1 calls probe. Because tool_calls is 1, probe begins."
