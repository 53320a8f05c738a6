"""A trace explains what a run did, and changes nothing of it."""

import asyncio
import json

from hypothesis import HealthCheck, given, settings

from bt_runtime import Replaying, Stepped, Trace, Words, build, deciding, node, path_to
from bt_runtime.library.named import read_tree
from bt_runtime.nodes.base import Condition
from bt_runtime.nodes.registration import NoSettings
from bt_runtime.testing import FakeClock, action_from, registry_of
from tests.bt_runtime.naive import decided, decider, statuses_of
from tests.bt_runtime.replays.test_replaying import EVENTS, TREES, recorded_run
from tests.bt_runtime.running import run_root, tree

PROPERTY = settings(deadline=None, suppress_health_check=list(HealthCheck))


@PROPERTY
@given(TREES, EVENTS)
def test_a_traced_replay_is_the_recorded_run_and_names_the_nodes_that_decided(spec, events):
    text = json.dumps(
        {"tree": "demo", "blackboard": {"count": {"type": "int", "default": 0}, "found": "any"}, "root": spec}
    )
    definition, registry, ran, recording, _ = asyncio.run(recorded_run(text, events))
    trace = Trace()
    again = build(definition, registry=registry, trace=trace)
    trace.watch(again)
    player, records, nodes = Replaying(again), list(recording), definition.nodes()
    for at, recorded in enumerate(records):
        assert player.play(recorded) == recorded
        visits, given_back = trace.take(), trace.take_given_back()
        assert tuple(visit.index for visit in visits) == recorded.visited
        for visit in (*visits, *given_back):
            assert "words failed" not in visit.words.text, visit
            assert "\n" not in visit.words.text + visit.words.sentence
            assert not visit.words.sentence or visit.words.sentence[-1] in '."', visit.words
        found = deciding(visits)
        if recorded.cause == "end":
            assert found is None
            continue
        assert found is not None
        statuses = statuses_of(definition, records[: at + 1])
        assert definition.paths[found.index] == decided(definition, set(recorded.visited), statuses)
        assert path_to(visits, found.index)[0].index == 0
        indices = {path: index for index, path in enumerate(definition.paths)}
        for visit in visits:
            if statuses[visit.index] is visit.status:  # not halted since by a node above it
                child = decider(nodes[visit.index], set(recorded.visited), statuses, indices)
                assert visit.decider == (None if child is None else indices[child.path]), visit
    assert dict(again.blackboard) == dict(ran.blackboard)


async def explained(root, *, kinds=(), **options):
    """The visits of each tick of a run, by path, and what was given back before it."""
    run = await run_root(root, kinds=kinds, **options)
    registry = registry_of(kinds)
    definition = read_tree(tree(root), file="<test>", registry=registry)
    trace = Trace()
    again = build(definition, registry=registry, host=options.get("host"), trace=trace)
    trace.watch(again)
    player = Replaying(again)
    ticks = []
    for recorded in run.recording:
        player.play(recorded)
        visits = {definition.paths[visit.index]: visit for visit in trace.take()}
        ticks.append((visits, [definition.paths[visit.index] for visit in trace.take_given_back()]))
    return ticks


async def test_a_set_says_what_it_changed_and_a_condition_what_it_read():
    ((visits, _),) = await explained("sequence: [{set: {count: count + 2, hint: \"'go'\"}}, {condition: count > 1}]")
    assert visits["sequence/set"].words.text == 'count 0 → 2, hint "" → "go"'
    assert visits["sequence/condition"].words.text == "count 2 → yes"
    assert visits["sequence"].words.sentence == "set and condition said yes."


async def test_what_on_halt_runs_has_not_decided_for_the_node_that_halts():
    root = """
    guarded:
      guards: [{condition: count < 1}]
      child:
        sequence:
          - {set: {count: 1}}
          - on_halt: {child: {scripted: [RUNNING]}, then: {set: {hint: "'halted'"}}}
    """
    ticks = await explained(root.replace("{scripted: [RUNNING]}", "{wait: {until: count > 5, timeout_s: 9}}"))
    visits, _ = ticks[-1]
    assert visits["guarded"].decider is not None
    assert visits["guarded/condition"].words.text == "count 1 → no"
    assert visits["guarded"].words.sentence == "The guard condition said no: the child must not run."


async def test_what_a_halted_action_brought_is_told_apart_from_the_visits_of_a_tick():
    clock = FakeClock()
    root = "timeout: {seconds: 1, child: {action: {call: slow}}}"
    substitutes = {"timeout/action": action_from(lambda: clock.sleep(5))}
    ticks = await explained(root, clock=clock, substitutes=substitutes)
    assert [given_back for _, given_back in ticks] == [[], [], ["timeout/action"]]
    assert ticks[1][0]["timeout"].words.sentence == "The 1 s are over, and action is halted."
    assert ticks[1][0]["timeout"].decider is None


@node("wordless")
class Wordless(Condition[NoSettings]):
    """SUCCESS, always."""

    def holds(self):
        return True

    def words(self, step: Stepped) -> Words:
        raise ValueError(f"no words for {step.began}")

    def decider(self, step: Stepped):
        raise ValueError("nobody")


async def test_words_that_fail_break_nothing():
    ((visits, _),) = await explained("sequence: [wordless, {condition: turn == 5}]", kinds=[Wordless.kind])
    assert visits["sequence/wordless"].words.text == "(its words failed: ValueError: no words for True)"
    assert visits["sequence/wordless"].decider is None
