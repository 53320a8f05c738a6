"""A retrace gives the events of a recording to a tree: to the one that was recorded, or to an edited one."""

import asyncio
import json

import pytest
from hypothesis import assume, given

from bt_runtime import HotLoopError, Retrace, build, event_ticks
from bt_runtime.library.named import read_tree
from bt_runtime.testing import FakeClock, registry_of, run_tree
from tests.bt_runtime.replays.test_replaying import EVENTS, PROPERTY, TREES, Work, recorded_run

HEAD = "tree: demo\nblackboard: {count: {type: int, default: 0}, found: any}\nroot:\n"
REGISTRY = registry_of([Work.kind])
LOOP = "  loop: {until: 'count >= %s', child: {sequence: [{work: [[2, done]]}, {set: {count: count + 1}}]}}\n"


def record(root, events=()):
    _, _, _, recording, _ = asyncio.run(recorded_run(HEAD + root, list(events)))
    return recording


def retraced(root, recording, *, match=None):
    tree = build(read_tree(HEAD + root, file="<test>", registry=REGISTRY), registry=REGISTRY)
    retrace = Retrace(tree, recording, match=match)
    return tree, retrace, [retrace.step(event) for event in event_ticks(recording)]


@PROPERTY
@given(TREES, EVENTS)
def test_the_recorded_tree_ends_as_it_did(spec, events):
    text = json.dumps(
        {"tree": "demo", "blackboard": {"count": {"type": "int", "default": 0}, "found": "any"}, "root": spec}
    )
    definition, registry, ran, recording, _ = asyncio.run(recorded_run(text, events))
    assume(ran.root.status.name != "INVALID")  # a hot loop was ended from outside
    again = build(definition, registry=registry)
    retrace = Retrace(again, recording)
    try:
        steps = [retrace.step(event) for event in event_ticks(recording)]
    except HotLoopError:
        return
    assert not retrace.is_running
    assert again.root.status is ran.root.status
    assert [outcome.key for step in steps for outcome in step.unclaimed] == []


def test_a_longer_loop_is_left_waiting_for_work_that_was_never_recorded():
    recording = record(LOOP % 2)
    tree, retrace, steps = retraced(LOOP % 3, recording)
    assert retrace.is_running
    assert list(retrace.open_requests) == ["loop/sequence/work@3"]
    assert [len(step.posted) for step in steps] == [1, 1, 1]
    assert tree.blackboard["count"] == 2


def test_a_shorter_loop_ends_before_the_recording_does():
    recording = record(LOOP % 3)
    tree, retrace, steps = retraced(LOOP % 1, recording)
    assert not retrace.is_running
    assert tree.blackboard["count"] == 1
    assert [len(step.records) for step in steps] == [1, 1, 0, 0]
    assert [outcome.key for step in steps for outcome in step.unclaimed] == [
        "loop/sequence/work@2",
        "loop/sequence/work@3",
    ]


def test_an_outcome_answers_another_request_if_the_match_says_so():
    recording = record("  work: [[2, done]]\n")
    moved = "  sequence: [{set: {count: '1'}}, {work: {name: moved, plan: [[9, fails]]}}]\n"
    tree, retrace, steps = retraced(moved, recording)
    assert retrace.is_running
    assert [outcome.key for step in steps for outcome in step.unclaimed] == ["work@1"]
    tree, retrace, steps = retraced(moved, recording, match=lambda _, requests: next(iter(requests.values())))
    assert not retrace.is_running
    assert tree.blackboard["found"] == ["sequence/moved", "done"]
    assert [outcome.key for step in steps for record in step.records for outcome in record.outcomes] == [
        "sequence/moved@1"
    ]


def test_work_that_only_the_edited_tree_interrupts_has_no_partial_result():
    recording = record("  work: [[2, keeps]]\n", [(1, ("count", 9))])
    guarded = "  loop: {guards: [{condition: count < 5}], child: {work: {name: w, plan: [[9, done]]}}}\n"
    tree, retrace, _ = retraced(guarded, recording, match=lambda _, requests: next(iter(requests.values())))
    assert not retrace.is_running
    assert tree.blackboard["found"] == ["loop/w", "interrupted", None]


def test_a_long_run_that_waits_for_every_round_is_no_hot_loop():
    definition, clock = read_tree(HEAD + LOOP % 1100, file="<test>", registry=REGISTRY), FakeClock()
    recording = asyncio.run(run_tree(definition, registry=REGISTRY, host=clock, clock=clock)).recording
    assert sum(tick.cause == "again" for tick in recording) > 1000
    tree, retrace, _ = retraced(LOOP % 1100, list(recording))
    assert not retrace.is_running
    assert tree.blackboard["count"] == 1100


def test_a_tree_that_never_waits_is_given_up():
    recording = record("  work: [[2, done]]\n")
    with pytest.raises(HotLoopError):
        retraced("  loop: {child: {set: {count: count + 1}}}\n", recording)


@pytest.mark.parametrize(
    "root", ["parallel: [{wait: {until: found}}, %s]", "parallel: [{wait: {until: count > 0}}, %s]"]
)
def test_a_wait_notices_keys_that_change_in_a_retrace(root):
    work = "{sequence: [{set: {count: '1'}}, {timeout: {seconds: 1, child: {work: [[9, keeps]]}}}]}"
    text = f"  {root % ('{force_success: ' + work + '}')}\n"
    recording = record(text)
    tree, retrace, _ = retraced(text, recording)
    assert not retrace.is_running
    assert tree.root.status.name == "SUCCESS"
