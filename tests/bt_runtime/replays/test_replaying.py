import asyncio
import json
from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import Field

from bt_runtime import (
    Action,
    NodeError,
    NodeSettings,
    Recording,
    Replaying,
    RunLoop,
    Status,
    TickRecord,
    build,
    did_the_same,
    node,
    replay,
)
from bt_runtime.library.named import read_tree
from bt_runtime.record.recording import TickInput
from bt_runtime.replays.replaying import arrived
from bt_runtime.runtime.stepper import MOST_FREE_TICKS
from bt_runtime.testing import FakeClock, action_from, registry_of
from tests.bt_runtime.running import F, S, run_root, tree

PROPERTY = settings(deadline=None, suppress_health_check=list(HealthCheck))


class WorkSettings(NodeSettings):
    """Settings of `work`."""

    plan: list[tuple[float, str]] = Field(min_length=1)


@node("work", settings=WorkSettings, shorthand="plan", acts=False)
class Work(Action[WorkSettings]):
    """Takes the time and ends as its plan says, an entry per start."""

    _starts = 0

    async def start(self):
        seconds, end = self.settings.plan[self._starts % len(self.settings.plan)]
        self._starts += 1
        try:
            await self.run.host.sleep(seconds)
        except asyncio.CancelledError:
            if end == "keeps":
                return "kept"
            raise
        if end == "raises":
            raise ValueError("bad")
        return end

    def finish(self, value):
        self.run.blackboard.set("found", [self.path, value])
        return Status.FAILURE if value == "fails" else Status.SUCCESS

    def interrupted(self, value):
        self.run.blackboard.set("found", [self.path, "interrupted", value])


SECONDS = st.sampled_from([0, 0.5, 1, 1, 2, 3, 5])
LEAVES = st.one_of(
    st.lists(st.sampled_from(["SUCCESS", "FAILURE", "RUNNING"]), min_size=1, max_size=3).map(
        lambda script: {"scripted": [*script, script[0] if script[0] != "RUNNING" else "FAILURE"]}
    ),
    st.lists(st.tuples(SECONDS, st.sampled_from(["done", "fails", "raises", "keeps"])), min_size=1, max_size=3).map(
        lambda plan: {"work": plan}
    ),
    st.sampled_from(
        [
            {"set": {"count": "count + 1"}},
            {"condition": "count < 3"},
            {"wait": 2},
            {"wait": {"seconds": "count"}},
            {"wait": {"until": "count > 4", "timeout_s": 3}},
            {"wait": {"until": "cancel_requested or count == 2"}},
        ]
    ),
)


def _writes(spec):
    text = json.dumps(spec)
    return '"set"' in text or "for_each" in text


def plain_composites(child):
    many = st.lists(child, min_size=1, max_size=4)
    reactive = st.lists(child, min_size=1, max_size=3)
    kinds = st.sampled_from(["sequence", "selector"])
    return st.one_of(
        st.builds(lambda kind, nodes: {kind: nodes}, kinds, many),
        st.builds(lambda kind, nodes: {kind: {"memory": _writes(nodes), "children": nodes}}, kinds, reactive),
        st.builds(
            lambda success, failure, limit, nodes: {
                "parallel": {
                    "success": "all" if success == 2 and len(nodes) < 2 else success,
                    "failure": failure,
                    "max_concurrent": limit,
                    "children": nodes,
                }
            },
            st.sampled_from(["all", "one", 2]),
            st.sampled_from(["one", "unreachable"]),
            st.sampled_from([None, 1, 2]),
            many,
        ),
        st.builds(
            lambda kind, c: {kind: {"child": c}},
            st.sampled_from(["inverter", "force_success", "force_failure"]),
            child,
        ),
    )


def composites(child):
    return st.one_of(
        plain_composites(child),
        st.builds(
            lambda backoff, c: {"retry": {"attempts": 2, "backoff_s": backoff, "child": c}}, SECONDS.map(float), child
        ),
        st.builds(lambda c: {"repeat": {"times": 2, "child": c}}, child),
        st.builds(lambda s, c: {"timeout": {"seconds": s + 0.25, "child": c}}, SECONDS, child),
        st.builds(lambda c, then: {"finally": {"child": c, "then": then}}, child, child),
        st.builds(
            lambda c: {"loop": {"guards": [{"condition": "not cancel_requested"}], "until": "count > 5", "child": c}},
            child,
        ),
        choices_and_rations(child),
    )


def choices_and_rations(child):
    some = st.lists(child, min_size=2, max_size=3)
    hook = st.sampled_from([{"set": {"count": "count + 10"}}, {"condition": "found > 1"}])
    guard = st.sampled_from([{"condition": "not cancel_requested"}, {"condition": "count < 4"}, {"wait": 1}])
    return st.one_of(
        st.builds(lambda a, b: {"if": {"when": "count < 3", "then": a, "else": b}}, child, child),
        st.builds(lambda a, b: {"switch": {"value": "count", "cases": {"0": a, "2": b}}}, child, child),
        st.builds(
            lambda go_on, c: {"for_each": {"in": [1, 5, 2], "as": "count", "continue": go_on, "child": c}},
            st.booleans(),
            child,
        ),
        st.builds(lambda g, c: {"guarded": {"guards": [g], "child": c}}, guard, child),
        st.builds(lambda s, w, c: {"cooldown": {"seconds": s, "wait": w, "child": c}}, SECONDS, st.booleans(), child),
        st.builds(lambda c: {"once": {"child": c}}, child),
        st.builds(lambda c, then: {"on_halt": {"child": c, "then": then}}, child, hook),
        st.builds(
            lambda until, nodes: {"parallel": {"until": until, "children": nodes}},
            st.sampled_from(["first_success", "first_end"]),
            some,
        ),
        st.builds(lambda c: {"retry": {"attempts": "count + 1", "backoff_s": 1.0, "child": c}}, child),
        st.builds(lambda c: {"timeout": {"seconds": "count + 0.5", "child": c}}, child),
    )


TREES = st.recursive(LEAVES, composites, max_leaves=10)
EVENTS = st.lists(
    st.tuples(SECONDS, st.sampled_from([("cancel_requested", True), ("count", 9), ("count", 0)])), max_size=3
)


async def recorded_run(text, events):
    registry = registry_of([Work.kind])
    definition = read_tree(text, file="<test>", registry=registry)
    clock = FakeClock()
    built = build(definition, registry=registry, host=clock)
    recording = Recording(built.paths)
    loop = RunLoop(built, clock=clock, observers=[recording], max_ticks_without_event=60)

    async def outside():
        for seconds, (key, value) in events:
            await clock.sleep(seconds)
            loop.deliver(key, value)
        await clock.sleep(1000)
        run.cancel()  # endless ones, after a thousand seconds

    run = asyncio.create_task(loop.run())
    teller = asyncio.create_task(outside())
    await asyncio.wait([run])
    teller.cancel()
    await asyncio.wait([teller])
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    return definition, registry, built, recording, left


@PROPERTY
@given(TREES, EVENTS)
def test_a_replay_of_any_run_repeats_it_tick_by_tick(spec, events):
    text = json.dumps(
        {"tree": "demo", "blackboard": {"count": {"type": "int", "default": 0}, "found": "any"}, "root": spec}
    )
    definition, registry, ran, recording, left = asyncio.run(recorded_run(text, events))
    assert not left
    assert Status.RUNNING not in {each.status for each in ran.nodes}
    again = build(definition, registry=registry)
    replayed = replay(again, recording)
    assert replayed.records == tuple(recording)
    assert replayed.diverged_at is None
    assert not replayed.missing
    assert not replayed.unanswered
    assert dict(again.blackboard) == dict(ran.blackboard)
    assert [each.status for each in again.nodes] == [each.status for each in ran.nodes]


def goes_on(stepper, recorded):
    """The next tick of a stepper that gets the recorded events as a run loop would give them."""
    kept = {each.key: each for each in recorded.outcomes if each.state == "cancelled"}
    settled(stepper, kept)
    stepper.start()
    if recorded.cause == "end":
        stepper.halt()
        settled(stepper, kept)
        return stepper.close(recorded.at_s, recorded.causes)
    for outcome in arrived(recorded):
        stepper.ended(outcome)
    for key, value in recorded.deliveries:
        stepper.deliver(key, value, recorded.at_s)
    given = stepper.due(recorded.at_s)
    assert given == TickInput(recorded.cause, recorded.causes, recorded.at_s, recorded.outcomes, recorded.deliveries), (
        "something else is due"
    )
    return stepper.tick(given)


def settled(stepper, kept):
    while halted := stepper.halted:
        stepper.settle([kept.get(request.key) for request in halted])


@PROPERTY
@given(TREES, EVENTS, st.integers(0, 1_000))
def test_a_run_that_is_handed_over_after_any_tick_goes_on_as_it_did(spec, events, left_at):
    text = json.dumps(
        {"tree": "demo", "blackboard": {"count": {"type": "int", "default": 0}, "found": "any"}, "root": spec}
    )
    definition, registry, ran, recording, _ = asyncio.run(recorded_run(text, events))
    records = list(recording)
    assume(len(records) < MOST_FREE_TICKS)  # nothing sleeps between ticks here, so more would be a hot loop
    first, rest = records[: left_at % (len(records) + 1)], records[left_at % (len(records) + 1) :]
    again = build(definition, registry=registry)
    replaying = Replaying(again)
    assert [replaying.play(record) for record in first] == first
    stepper = replaying.hand_over()
    if first:
        settled(
            stepper, {each.key: each for record in rest[:1] for each in record.outcomes if each.state == "cancelled"}
        )
        stepper.lose(lambda _request: None)
        assert not stepper.under_way
    assert [goes_on(stepper, record) for record in rest] == rest
    assert dict(again.blackboard) == dict(ran.blackboard)
    assert [each.status for each in again.nodes] == [each.status for each in ran.nodes]


class Reference:
    """What the kinds say, in the plainest words, for nodes that answer at once."""

    def __init__(self, spec):
        ((self.kind, value),) = spec.items()
        self.value = value if isinstance(value, dict) else {}
        below = [self.value["child"]] if "child" in self.value else self.value.get("children", value)
        self.script = value if self.kind == "scripted" else None
        self.children = [] if self.script else [Reference(each) for each in below]
        self.status, self.ticks = Status.INVALID, 0

    def statuses(self):
        return [self.status, *(status for child in self.children for status in child.statuses())]

    def halt(self):
        self.status = Status.INVALID
        for child in self.children:
            child.halt()

    def tick(self):
        if self.status is not Status.RUNNING and self.kind in {"sequence", "selector", "parallel"}:
            for child in self.children:
                child.halt()
        self.status = getattr(self, self.kind)()
        for child in self.children:
            if self.status is not Status.RUNNING and child.status is Status.RUNNING:
                child.halt()
        return self.status

    def scripted(self):
        self.ticks += 1
        return Status[self.script[min(self.ticks, len(self.script)) - 1]]

    def inverter(self):
        return {S: F, F: S}.get(self.children[0].tick(), Status.RUNNING)

    def force_success(self):
        return Status.RUNNING if self.children[0].tick() is Status.RUNNING else S

    def force_failure(self):
        return Status.RUNNING if self.children[0].tick() is Status.RUNNING else F

    def in_order(self, go_on):
        for child in self.children:
            if self.value.get("memory", True) and child.status is go_on:
                continue
            if child.tick() is not go_on:
                for later in self.children[self.children.index(child) + 1 :]:
                    later.halt()
                return child.status
        return go_on

    def sequence(self):
        return self.in_order(S)

    def selector(self):
        return self.in_order(F)

    def parallel(self):
        limit = self.value["max_concurrent"] or len(self.children)
        for child in self.children:
            if child.status in {S, F}:
                continue
            if sum(other.status is Status.RUNNING for other in self.children[: self.children.index(child)]) < limit:
                child.tick()
        succeeded = [child.status for child in self.children].count(S)
        failed = [child.status for child in self.children].count(F)
        needed = {"all": len(self.children), "one": 1}.get(self.value["success"], self.value["success"])
        if succeeded >= needed:
            return S
        if len(self.children) - failed < needed or (failed and self.value["failure"] == "one"):
            return F
        return Status.RUNNING


SCRIPTS = st.lists(st.sampled_from(["SUCCESS", "FAILURE", "RUNNING"]), min_size=1, max_size=5).map(
    lambda script: {"scripted": script}
)


@PROPERTY
@given(st.recursive(SCRIPTS, plain_composites, max_leaves=12))
def test_after_every_tick_all_statuses_are_those_of_a_naive_interpreter(spec):
    registry = registry_of()
    built = build(
        read_tree(json.dumps({"tree": "demo", "root": spec}), file="<test>", registry=registry), registry=registry
    )
    reference = Reference(spec)
    for _ in range(12):
        assert built.root.step() is reference.tick()
        assert [each.status for each in built.nodes] == reference.statuses()


async def recorded(root, **options):
    clock = FakeClock()
    return await run_root(
        root, clock=clock, substitutes={"sequence/action": action_from(lambda: clock.sleep(3))}, **options
    )


def rebuilt(root):
    registry = registry_of()
    return build(read_tree(tree(root), file="<test>", registry=registry), registry=registry)


BEFORE = "sequence: [action: x, {set: {count: 1}}, {scripted: [RUNNING, SUCCESS]}]"


async def test_a_replay_of_an_edited_tree_shows_the_first_tick_that_differs():
    run = await recorded(BEFORE)
    edited = rebuilt("sequence: [action: x, {set: {count: 2}}, {scripted: [RUNNING, SUCCESS]}]")
    replayed = replay(edited, run.recording, paths=run.tree.paths)
    assert replayed.diverged_at == 2
    assert edited.blackboard["count"] == 2


async def test_a_node_added_where_the_run_never_came_is_not_a_difference():
    before = "selector: [{scripted: [RUNNING, SUCCESS]}, {set: {count: 1}}]"
    after = "selector: [{scripted: [RUNNING, SUCCESS]}, {inverter: {condition: turn > 3}}, {set: {count: 1}}]"
    run = await run_root(before)
    assert replay(rebuilt(after), run.recording, paths=run.tree.paths).diverged_at is None


async def test_a_replay_reports_outcomes_that_were_not_requested_and_requests_without_outcome():
    run = await recorded(BEFORE)
    replayed = replay(rebuilt("sequence: [{action: {name: other, call: x}}]"), run.recording, paths=run.tree.paths)
    assert (replayed.diverged_at, replayed.missing, replayed.unanswered) == (
        1,
        ("sequence/action@1",),
        ("sequence/other@1",),
    )


async def test_an_edited_tree_that_ends_sooner_diverges_there():
    run = await run_root("scripted: [RUNNING, RUNNING, SUCCESS]")
    replayed = replay(rebuilt("scripted: [RUNNING, SUCCESS]"), run.recording)
    assert (replayed.diverged_at, len(replayed.records)) == (2, 2)


async def test_a_recording_that_goes_on_after_the_replay_has_ended_diverges_there():
    run = await run_root("scripted: [RUNNING, SUCCESS]")
    *_, last = run.recording
    replayed = replay(rebuilt("scripted: [RUNNING, SUCCESS]"), [*run.recording, replace(last, tick=last.tick + 1)])
    assert replayed.records == tuple(run.recording)
    assert replayed.diverged_at == last.tick + 1


async def test_a_recorded_delivery_that_an_edited_tree_does_not_accept_is_an_error_in_the_record():
    run = await run_root("condition: count == 3", started=lambda loop: loop.deliver("count", 3))
    registry = registry_of()
    edited = build(
        read_tree("tree: demo\nroot: {scripted: [SUCCESS]}", file="<test>", registry=registry), registry=registry
    )
    replayed = replay(edited, run.recording)
    assert replayed.diverged_at == 1
    assert "no blackboard key 'count'" in replayed.records[0].errors[0].error


def test_two_ticks_did_the_same_by_paths_and_plain_values():
    paths, other = ("root", "root/a"), ("root", "root/b")
    tick = TickRecord(1, 0.0, "start", (), (), (), (0, 1), ((0, S), (1, S)), (("found", ("a", {"n": (1,)})),), ())
    assert did_the_same(tick, replace(tick, took_ms=3.0, at_s=9.0), paths, paths)
    assert did_the_same(tick, replace(tick, writes=(("found", ["a", {"n": [1]}]),)), paths, tuple(paths))
    assert not did_the_same(tick, tick, paths, other)
    assert did_the_same(replace(tick, visited=(0,), changes=()), replace(tick, visited=(0,), changes=()), paths, other)
    long = replace(tick, writes=(("found", "x" * 5_000),))
    assert did_the_same(long, replace(tick, writes=(("found", {"characters": 5_000}),)), paths, paths)
    for changed in (
        {"visited": (0,)},
        {"changes": ((0, F), (1, S))},
        {"writes": ()},
        {"errors": (NodeError("root", "x"),)},
    ):
        assert not did_the_same(tick, replace(tick, **changed), paths, paths)


async def test_a_replay_starts_nothing():
    run = await recorded(BEFORE)
    again = rebuilt(BEFORE)
    assert replay(again, run.recording).diverged_at is None
    assert again.blackboard["count"] == 1
