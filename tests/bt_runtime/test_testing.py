import asyncio
import inspect
import re
import textwrap

import pytest

from bt_runtime import Key, KindError, Status, TreeFileError, condition_kind, testing
from bt_runtime.testing import FakeClock, FakeHost, action_from, registry_of, run_text, scripted
from tests.bt_runtime.running import F, S, run_root


async def test_the_examples_of_the_module_docstring_run():
    examples = re.findall(r"\n\n((?:    .*\n|\n)+)", inspect.getdoc(testing) + "\n")
    assert len(examples) == 2
    body = "async def example():\n" + textwrap.indent("".join(map(textwrap.dedent, examples)), "    ")
    names = vars(testing).copy()
    exec(body, names)
    await names["example"]()


async def test_a_jumping_clock_lets_tasks_finish_before_it_jumps():
    clock = FakeClock()

    async def busy():
        for _ in range(200):
            await asyncio.sleep(0)

    run = await run_root(
        "timeout: {seconds: 1, child: {action: x}}", clock=clock, substitutes={"timeout/action": action_from(busy)}
    )
    assert (run.status, clock.now()) == (S, 0)


async def test_a_jumping_clock_jumps_even_if_a_task_never_rests():
    clock = FakeClock()

    async def restless():
        while True:  # noqa: ASYNC110  that is the point
            await asyncio.sleep(0)

    run = await run_root(
        "timeout: {seconds: 1, child: {action: x}}", clock=clock, substitutes={"timeout/action": action_from(restless)}
    )
    assert (run.status, clock.now()) == (F, 1)


async def test_a_jumping_clock_is_shared_by_several_runs_in_the_order_of_time():
    clock, order = FakeClock(), []

    async def sleeper(seconds):
        await clock.sleep(seconds)
        order.append((seconds, clock.now()))

    await asyncio.gather(*map(sleeper, (3, 1, 2, 1, 0)))
    assert order == [(0, 0), (1, 1), (1, 1), (2, 2), (3, 3)]


async def test_a_clock_without_jump_moves_only_on_request():
    clock = FakeClock(start_s=100, jump=False)
    sleeping = asyncio.create_task(clock.sleep(10))
    for _ in range(50):
        await asyncio.sleep(0)
    assert clock.now() == 100
    clock.advance(9)
    await asyncio.sleep(0)
    assert not sleeping.done()
    clock.advance(1)
    await sleeping
    assert clock.now() == 110


async def test_a_cancelled_sleep_leaves_no_waiter():
    clock = FakeClock(jump=False)
    sleeping = asyncio.create_task(clock.sleep(10))
    await asyncio.sleep(0)
    sleeping.cancel()
    await asyncio.wait([sleeping])
    assert clock._waiting == []


async def test_scripted_follows_its_script_and_repeats_the_last_status():
    run = await run_root("repeat: {times: 3, child: {scripted: [RUNNING, SUCCESS, RUNNING, SUCCESS]}}")
    assert (run.status, run.ticks_of("repeat/scripted")) == (S, [1, 2, 3, 4, 5])


@pytest.mark.parametrize("script", ["[]", "[MAYBE]", "SUCCESS"])
async def test_scripted_refuses_other_scripts(script):
    with pytest.raises(TreeFileError):
        await run_root(f"scripted: {script}")


async def test_a_substitute_for_an_unknown_path_is_an_error_that_names_it():
    with pytest.raises(KindError, match=r"no node at \['sequence/actoin'\] in tree 'demo'"):
        await run_root("sequence: [action: x]", substitutes={"sequence/actoin": scripted("SUCCESS")})


async def test_the_fake_host_records_calls_and_returns_results():
    async def later(arguments):
        return arguments["n"] * 2

    host = FakeHost({"double": later, "triple": lambda arguments: arguments["n"] * 3, "broken": OSError("no")})
    assert await host.call("double", {"n": 2}) == 4
    assert await host.call("triple", {"n": 2}) == 6
    with pytest.raises(OSError, match="no"):
        await host.call("broken", {})
    with pytest.raises(LookupError, match="no action 'other'"):
        await host.call("other", {})
    assert [name for name, _ in host.calls] == ["double", "triple", "broken", "other"]


async def test_a_host_can_add_keys_and_kinds():
    def is_late(board):
        """SUCCESS when it is late."""
        return board["hour"] > 22

    run = await run_text(
        "tree: demo\nroot: is_late",
        kinds=[condition_kind("is_late", is_late)],
        keys=[Key("hour", "int", 23)],
    )
    assert run.status is Status.SUCCESS
    assert "scripted" in registry_of().kinds
