import asyncio

import pytest

from bt_runtime import Status, TreeFileError
from bt_runtime.testing import FakeClock, FakeHost
from tests.bt_runtime.running import F, S, run_root


@pytest.mark.parametrize(("when", "status"), [("turn > 3", S), ("turn > 5", F), ("not sources and turn == 5", S)])
async def test_a_condition_tests_the_blackboard(when, status):
    run = await run_root(f'condition: "{when}"')
    assert (run.status, run.result.ticks) == (status, 1)


async def test_a_condition_that_cannot_be_evaluated_fails_with_an_error():
    run = await run_root("condition: found > 3")
    assert run.status is F
    (error,) = run.result.errors
    assert (error.path, error.error.partition(":")[0]) == ("condition", "ExpressionError")


async def test_a_condition_that_fails_shows_its_expression():
    run = await run_root("condition: turn > 7")
    assert run.tree.root.feedback_message == "turn > 7"


async def test_set_writes_in_the_order_of_the_file_and_sees_its_own_writes():
    run = await run_root("set: {count: turn + 1, turn: count * 2, hint: \"'done'\", found: true}")
    assert run.status is S
    assert next(iter(run.recording)).writes == (("count", 6), ("turn", 12), ("hint", "done"), ("found", True))


async def test_set_fails_at_the_first_wrong_value_and_keeps_earlier_writes():
    run = await run_root("set: {count: 7, hint: turn, turn: 0}")
    assert (run.status, run.value("count"), run.value("hint"), run.value("turn")) == (F, 7, "", 5)
    assert "must be text, not 5" in run.result.errors[0].error


@pytest.mark.parametrize("key", ["termination_reason", "conut", "cancel_requested"])
async def test_set_on_a_read_only_key_is_refused_by_the_reader(key):
    with pytest.raises(TreeFileError, match=key):
        await run_root(f"set: {{{key}: 1}}")


async def test_an_action_calls_the_host_with_evaluated_arguments_and_stores_the_result():
    host = FakeHost({"search": ["a", "b"]})
    run = await run_root(
        "action: {call: search, with: {query: question, limit: turn * 2, exact: true}, into: sources}", host=host
    )
    assert (run.status, run.value("sources")) == (S, ["a", "b"])
    assert host.calls == [("search", {"query": "q", "limit": 10, "exact": True})]
    assert [record.cause for record in run.recording] == ["start", "outcome"]


@pytest.mark.parametrize(
    ("results", "error"),
    [
        ({"search": OSError("no network")}, "OSError: no network"),
        ({}, "LookupError: the fake host has no action 'search'"),
        ({"search": 7}, "BlackboardError: 'sources' must be a list, not 7"),
    ],
    ids=["raises", "is unknown", "answers something of another type"],
)
async def test_an_action_fails_when_the_host(results, error):
    run = await run_root("action: {call: search, into: sources}", host=FakeHost(results))
    assert run.status is F
    assert run.result.errors[0].error.startswith(error)


async def test_an_action_whose_arguments_cannot_be_evaluated_fails():
    run = await run_root("action: {call: search, with: {limit: found + 1}}", host=FakeHost({"search": 1}))
    assert run.status is F
    assert "ExpressionError" in run.result.errors[0].error


async def test_a_halted_action_is_cancelled_and_awaited():
    clock, ends = FakeClock(), []

    async def slow(_arguments):
        try:
            await clock.sleep(60)
        finally:
            ends.append(clock.now())

    run = await run_root("timeout: {seconds: 3, child: {action: slow}}", clock=clock, host=FakeHost({"slow": slow}))
    assert (run.status, ends) == (F, [3])


async def test_notify_inserts_values_and_notifies_the_host():
    host = FakeHost()
    run = await run_root(
        "notify: {message: 'Turn {turn}, {found}, {not a key}', topic: x, severity: warning}", host=host
    )
    assert run.status is S
    assert host.notices == [
        {
            "topic": "x",
            "message": "Turn 5, None, {not a key}",
            "severity": "warning",
            "metadata": {"turn": 5, "found": None},
        }
    ]


async def test_notify_shows_values_as_they_are_even_if_they_look_like_placeholders():
    host = FakeHost()
    await run_root("notify: '{hint}'", host=host, values={"hint": "{turn} \\1"})
    assert host.notices[0]["message"] == "{turn} \\1"


async def test_notify_fails_when_the_host_raises():
    class Deaf(FakeHost):
        def notify(self, **_told):
            raise asyncio.CancelledError("a strange host")

    run = await run_root("sequence: [{notify: hello}]", host=Deaf())
    assert run.status is F
    assert run.recording.statuses()["sequence/notify"] is Status.FAILURE
    assert run.result.errors[0].error == "CancelledError: a strange host"


async def test_a_call_without_a_host_is_an_error_in_the_record():
    run = await run_root("sequence: [{force_success: {notify: hello}}, {action: search}]", host=None)
    assert run.status is F
    assert [error.path for error in run.result.errors] == ["sequence/force_success/notify", "sequence/action"]
