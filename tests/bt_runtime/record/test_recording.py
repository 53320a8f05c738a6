from bt_runtime import Status
from bt_runtime.record.recording import describe
from bt_runtime.testing import FakeClock, action_from
from tests.bt_runtime.running import run_root


async def recorded():
    clock = FakeClock()
    return await run_root(
        "sequence: [{scripted: [RUNNING, SUCCESS]}, action: x, {set: {count: 1}}]",
        clock=clock,
        substitutes={"sequence/action": action_from(lambda: clock.sleep(2))},
    )


async def test_a_record_has_the_inputs_and_effects_of_its_tick():
    run = await recorded()
    first, second, third = run.recording
    assert (first.tick, first.at_s, first.cause, first.causes) == (1, 0, "start", ())
    assert (second.cause, second.causes) == ("again", ("sequence/scripted",))
    assert (third.cause, third.causes, third.at_s) == ("outcome", ("sequence/action@1",), 2)
    assert [(o.key, o.state, o.at_s) for o in third.outcomes] == [("sequence/action@1", "done", 2)]
    assert (third.visited, third.writes) == ((0, 2, 3), (("count", 1),))
    assert third.changes == ((0, Status.SUCCESS), (2, Status.SUCCESS), (3, Status.SUCCESS))


async def test_the_statuses_after_any_tick_are_available():
    run = await recorded()
    assert run.recording.statuses(0) == dict.fromkeys(run.tree.paths, Status.INVALID)
    assert list(run.recording.statuses(1).values()) == [Status.RUNNING, Status.RUNNING, Status.INVALID, Status.INVALID]
    assert set(run.recording.statuses().values()) == {Status.SUCCESS}
    assert run.recording.visited()[0] == ["sequence", "sequence/scripted"]


def test_an_exception_is_described_in_bounded_length_even_if_its_str_raises():
    class Mute(Exception):  # noqa: N818
        def __str__(self):
            raise RuntimeError

    assert describe(ValueError("bad")) == "ValueError: bad"
    assert describe(KeyboardInterrupt()) == "KeyboardInterrupt"
    assert describe(Mute()) == "Mute: (its message cannot be shown)"
    assert len(describe(ValueError("x" * 99_999))) == 2000
