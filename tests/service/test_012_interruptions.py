"""Cancel, timeout and lost connections over HTTP, whatever is under way (012 FR-004.1, FR-004.5, SC-004)."""

import asyncio
import statistics
import time
from datetime import datetime

import pytest

from tests.acceptance.scripts import answers, calls, hangs, says
from tests.service.provider import Desk
from tests.service.queries import Stream
from tests.service.scenarios import searching
from tests.service.server import Client, Server, under_both
from tests.support.pace import slowness
from tests.support.provider import Disturbed

pytestmark = pytest.mark.asyncio(loop_scope="session")

OURS_S = 0.1
"""From a cancel or a limit to `done`, of our own making; the middle of several, since a busy machine adds its own."""
CANCELLED = "Cancelled: the run was stopped before this call had ended."
TIME_MESSAGE = "Time limit reached (10/10 s). Saving partial response."
TIME_SENTENCE = "Stopped: time limit reached (10 s)."
HOLDS = [calls("search_code", query="zzhold", limit=limit) for limit in range(1, 6)]
"""Searches that are held; no two are the same, since identical calls of one turn are run once."""


@under_both
async def test_012_fr_004_1_cancel_in_mid_stream_keeps_what_was_said_over_http(client: Client, desk: Desk) -> None:
    desk.play(hangs(says("Half of the")), answers("And on it goes."))
    async with client.stream() as stream:
        await stream.until_content("Half of the")
        await client.cancel(stream.run_id)
        await stream.rest()
    await desk.wait_disconnected()
    assert (stream.reason, stream.answer, stream.messages) == ("user_cancelled", "Half of the", [])
    await client.check_kept(stream)
    following = await client.ask("And where is log_in?", context_id=stream.done["context_id"])
    assert following.answer == "And on it goes."


async def test_012_sc_004_from_a_cancel_to_done_takes_under_100_ms_of_our_own(client: Client, desk: Desk) -> None:
    took_s = []
    for _ in range(7):
        desk.play(hangs(says("Half of the")))
        async with client.stream() as stream:
            await stream.until_content("Half of the")
            began_s = time.perf_counter()
            await client.cancel(stream.run_id)
            took_s.append(await stream.until_done() - began_s)
        await desk.wait_disconnected()
    assert statistics.median(took_s) < OURS_S * slowness()


async def test_012_sc_004_from_a_limit_to_done_takes_under_100_ms_of_our_own(client: Client, desk: Desk) -> None:
    took_s = []
    for _ in range(7):
        gate = asyncio.Event()
        turn = says(("a" * 3_999, "b" * 500, "c" * 500))
        desk.play(Disturbed(turn, "wait", after=4, gate=gate))
        async with client.stream(limits={"token_budget": 1_000}) as stream:
            await stream.until_content("a" * 3_999)
            began_s = time.perf_counter()
            gate.set()
            took_s.append(await stream.until_done() - began_s)
        assert stream.reason == "token_budget"
    assert statistics.median(took_s) < OURS_S * slowness()


async def test_012_fr_004_1_cancel_in_mid_tool_answers_every_call_over_http(
    client: Client, desk: Desk, local_server: Server
) -> None:
    desk.play(says("Looking.", *HOLDS, calls("list_files")))
    async with client.stream(limits={"max_tool_calls_per_turn": 6}) as stream:
        await stream.until_chunk("tool_call", number=6)
        began_s = time.perf_counter()
        await client.cancel(stream.run_id)
        took_s = await stream.until_done() - began_s
        await stream.rest()
    assert stream.reason == "user_cancelled"
    assert [(one["tool_result"], one["is_error"]) for one in stream.of("tool_result")][:3] == [(CANCELLED, True)] * 3
    assert stream.answer == "Looking."
    assert took_s < 1  # the search waits for 5 s
    await client.check_kept(stream)


@under_both
async def test_012_fr_004_1_cancelling_again_and_after_the_end_changes_nothing(client: Client, desk: Desk) -> None:
    desk.play(hangs(says("Half")))
    async with client.stream() as stream:
        await stream.until_content("Half")
        await asyncio.gather(*(client.cancel(stream.run_id) for _ in range(5)))
        await stream.rest()
    await client.cancel(stream.run_id)
    assert (await client.resumed(stream.run_id)).chunks == stream.chunks


async def test_012_fr_004_1_cancel_at_the_first_moment_is_heeded(client: Client, desk: Desk) -> None:
    for _ in range(10):
        desk.play(hangs(says("Half")))
        async with client.stream() as stream:
            await client.cancel(stream.run_id)
            await stream.rest()
        assert stream.reason == "user_cancelled"
        assert stream.answer in ("", "Half")
        await client.check_kept(stream)


async def test_012_fr_004_1_a_whole_answer_can_be_cancelled_too(client: Client, desk: Desk) -> None:
    desk.play(hangs(says("Half of the")))
    asking = asyncio.create_task(client.ask_whole())
    await desk.wait_request()
    (newest,) = (await client.http.get("/api/runs", params={"limit": 1})).json()["runs"]
    async with client.resume(newest["run_id"]) as stream:
        await stream.until_content("Half of the")
        await client.cancel(newest["run_id"])
        await stream.rest()
    whole = await asking
    assert (whole["termination_reason"], whole["answer"]) == ("user_cancelled", "Half of the")


@under_both
async def test_012_edge_cancel_while_a_notification_is_pending_goes_before_it_over_http(
    client: Client, desk: Desk
) -> None:
    desk.play(says("One.", HOLDS[0]), answers())
    async with client.stream(limits={"max_iterations": 3}) as stream:
        await stream.until_chunk("tool_call")
        # The next turn would begin with the warning.
        await client.cancel(stream.run_id)
        await stream.rest()
    assert (stream.reason, stream.answer, stream.messages) == ("user_cancelled", "One.", [])
    assert len(desk.requests) == 1


async def test_012_edge_cancel_while_the_limit_is_announced_has_one_true_end(client: Client, desk: Desk) -> None:
    for _ in range(5):
        gate = asyncio.Event()
        desk.play(*searching(1), Disturbed(says("Step 2."), "wait", gate=gate))
        async with client.stream(limits={"max_iterations": 2}) as stream:
            await stream.until_content("Step 2.")
            gate.set()
            await client.cancel(stream.run_id)
            await stream.rest()
        assert stream.reason in ("user_cancelled", "completed", "max_iterations")
        assert stream.answer.startswith("Step 1.\n\nStep 2.")
        await client.check_kept(stream)


@under_both
async def test_012_edge_connection_drops_during_a_limit_notification_and_comes_back(client: Client, desk: Desk) -> None:
    gate = asyncio.Event()
    desk.play(*searching(2), Disturbed(says("Step 3.", calls("search_code", query="x3")), "wait", gate=gate, after=0))
    async with client.stream(limits={"max_iterations": 3}) as stream:
        await stream.until_chunk("system")
    assert "done" not in stream.types
    gate.set()  # the limit is announced while nobody reads
    rest = await client.resumed(stream.run_id, after=stream.ids[-1])
    whole = await client.resumed(stream.run_id)
    assert [*stream.chunks, *rest.chunks] == whole.chunks
    assert whole.reason == "max_iterations"
    assert whole.messages == [
        "Approaching iteration limit (1/3). Consider wrapping up your response.",
        "Maximum iterations reached (3/3). Saving partial response.",
    ]
    await client.check_kept(whole)


async def test_a_lost_connection_alone_does_not_cancel_and_resume_goes_on_live(client: Client, desk: Desk) -> None:
    gate = asyncio.Event()
    desk.play(Disturbed(answers("First half, second half.", piece_chars=11), "wait", gate=gate, after=4))
    async with client.stream() as stream:
        await stream.until_content("First half,")
    async with client.resume(stream.run_id, after=1) as rest:
        gate.set()
        await rest.rest()
    assert (rest.reason, rest.answer) == ("completed", " second half.")


@pytest.mark.long("waits for the shortest deadline, 10 s")
async def test_012_fr_004_5_timeout_in_mid_stream_in_mid_tool_and_before_anything_was_said(
    client: Client, desk: Desk, local_server: Server
) -> None:
    """All at once, since each waits for its own deadline, of which 10 s is the least."""
    limits = {"timeout_seconds": 10, "max_parallel_tools": 1}
    turns = {
        "stream": hangs(says("Half of the")),
        "silent": hangs(says("")),
        # Each search is held for 5 s, so that the second or the third one is under way when the time is over.
        "tool": says("Looking.", *HOLDS[:3]),
        "whole": hangs(says("Half of the")),
    }
    desk.play()
    async with asyncio.TaskGroup() as asking:
        tasks = {}
        for number, (name, turn) in enumerate(turns.items(), 1):
            desk.add(turn)
            ask = client.ask_whole if name == "whole" else client.ask
            tasks[name] = asking.create_task(ask(limits=limits))
            await desk.wait_request(number)
    for number in (1, 2, 4):
        await desk.wait_disconnected(number)
    stream, silent, tool = (tasks[name].result() for name in ("stream", "silent", "tool"))
    assert stream.answer == f"Half of the\n\n{TIME_SENTENCE}"
    assert silent.answer == TIME_SENTENCE
    assert tool.answer == f"Looking.\n\n{TIME_SENTENCE}"
    assert [result["tool_result"] for result in tool.of("tool_result")][-1] == CANCELLED
    assert tasks["whole"].result()["answer"] == stream.answer
    for heard in (stream, silent, tool):
        assert (heard.reason, heard.messages) == ("timeout", [TIME_MESSAGE])
        assert heard.of("system")[0]["metadata"] == {
            "current_value": 10,
            "limit_value": 10,
            "percent": 100,
            "limit_type": "timeout",
        }
        assert heard.done["turns"] == (1 if heard is tool else 0)
    late_s = [await _late_s(client, heard) for heard in (stream, silent, tool)]
    assert min(late_s) < OURS_S


async def _late_s(client: Client, heard: Stream) -> float:
    """How long after its deadline the run was finished."""
    run = await client.run(heard.run_id)
    return (datetime.fromisoformat(run["finished_at"]) - datetime.fromisoformat(run["deadline_at"])).total_seconds()
