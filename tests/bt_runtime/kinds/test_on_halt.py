import asyncio

import pytest

from bt_runtime import Action, Node, NoSettings, Recording, RunLoop, Status, TreeFileError, node, replay
from bt_runtime.testing import FakeClock, FakeHost, action_from
from tests.bt_runtime.running import F, S, live, run_root, until_idle

HOOKED = "on_halt: {child: {action: x}, then: {sequence: [{set: {count: count + 1}}, {notify: halted}]}}"


@pytest.mark.parametrize(("end", "status"), [("SUCCESS", S), ("FAILURE", F)])
async def test_nothing_more_runs_when_the_child_has_ended(end, status):
    run = await run_root(f"on_halt: {{child: {{scripted: [RUNNING, {end}]}}, then: {{set: {{count: 1}}}}}}")
    assert (run.status, run.value("count")) == (status, 0)


async def test_the_hook_runs_once_for_each_halt_of_a_running_child():
    clock, host = FakeClock(), FakeHost()
    run = await run_root(
        f"retry: {{attempts: 2, child: {{timeout: {{seconds: 3, child: {{{HOOKED}}}}}}}}}",
        clock=clock,
        host=host,
        substitutes={"retry/timeout/on_halt/action": action_from(lambda: clock.sleep(60))},
    )
    assert (run.status, run.value("count"), len(host.notices)) == (F, 2, 2)
    assert {each.status for each in run.tree.nodes[2:]} == {Status.INVALID}


async def test_the_hook_runs_before_the_partial_result_of_the_child_is_there():
    class Keeper(Action[NoSettings]):
        """RUNNING, until it is halted. SUCCESS, never."""

        async def start(self):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "half"

        def interrupted(self, value):
            self.run.blackboard.set("hint", f"{self.run.blackboard['hint']} then {value}")

    run = await run_root(
        "timeout: {seconds: 1, child: {on_halt: {child: keeper, then: {set: {hint: \"'hook'\"}}}}}",
        kinds=[node("keeper")(Keeper).kind],
    )
    assert run.value("hint") == "hook then half"


async def test_the_end_of_a_run_halts_and_is_recorded_and_replayed():
    recording, host = Recording(), FakeHost()
    text = f"guarded: {{guards: [condition: turn > 0], child: {{{HOOKED}}}}}"
    built = live(text, host=host, substitutes={"guarded/on_halt/action": action_from(asyncio.Event().wait)})
    task = asyncio.create_task(RunLoop(built, clock=FakeClock(), observers=[recording]).run())
    await until_idle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    last = list(recording)[-1]
    assert (last.cause, last.writes) == ("end", (("count", 1),))
    assert [built.paths[index] for index in last.visited] == [
        "guarded/on_halt/sequence",
        "guarded/on_halt/sequence/set",
        "guarded/on_halt/sequence/notify",
    ]
    assert {each.status for each in built.nodes} == {Status.INVALID}
    replayed = replay(live(text, host=FakeHost()), recording)
    assert replayed.records == tuple(recording)
    assert replayed.diverged_at is None


async def test_an_error_in_the_hook_is_recorded_and_the_halt_goes_on():
    clock = FakeClock()
    run = await run_root(
        "selector: [{timeout: {seconds: 1, child: {on_halt: {child: {action: x}, then: {condition: found > 1}}}}}, "
        "{set: {count: 7}}]",
        clock=clock,
        substitutes={"selector/timeout/on_halt/action": action_from(lambda: clock.sleep(9))},
    )
    assert (run.status, run.value("count")) == (S, 7)
    assert [error.path for error in run.result.errors] == ["selector/timeout/on_halt/condition"]


@pytest.mark.parametrize("then", ["action: x", "wait: 1", "sequence: [{set: {count: 1}}, {scripted: [SUCCESS]}]"])
async def test_nodes_that_may_take_time_are_refused_in_a_hook(then):
    with pytest.raises(TreeFileError, match="may take time, and a halt does not wait"):
        await run_root(f"on_halt: {{child: {{action: x}}, then: {{{then}}}}}")


async def test_a_kind_that_does_not_declare_that_it_waits_is_halted_with_an_error():
    @node("sly", acts=True, category="action")
    class Sly(Node[NoSettings]):
        """SUCCESS, never."""

        def update(self):
            return Status.RUNNING

    run = await run_root(
        "timeout: {seconds: 1, child: {on_halt: {child: {wait: 9}, then: sly}}}",
        kinds=[Sly.kind],
    )
    assert run.status is F
    assert "did not end at once" in run.result.errors[0].error
    assert Status.RUNNING not in {each.status for each in run.tree.nodes}
