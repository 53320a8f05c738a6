"""A server that is killed or ended while it answers: nothing that was read is lost, and every run goes on."""

import pytest
import pytest_asyncio

from tests.acceptance.scripts import answers, calls, hangs, says
from tests.service.queries import Heard
from tests.service.scenarios import searching
from tests.service.server import serving
from tests.service.test_settings import PATH

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long("starts, kills and starts services")]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def mortal_server(tmp_path_factory):
    """May be killed; it is started again on the same data."""
    async with serving(tmp_path_factory.mktemp("mortal"), ORACLE_DRAIN_S="0", ORACLE_READER_GRACE_S="0.2") as server:
        yield server


async def test_decision_27_and_28_after_a_kill_what_was_read_is_there_and_the_run_goes_on(
    mortal_server, connect
) -> None:
    server, desk = mortal_server, mortal_server.desk
    before = connect(server)
    desk.play(*searching(1), hangs(says("Half of the")), says("Looking.", calls("search_code", query="zzhold")))
    async with before.stream() as streaming:
        await streaming.until_content("Half of the")
        async with before.stream() as searched:
            await searched.until_chunk("tool_call")
            await server.kill()
    desk.play(answers(" answer."))
    await server.start()
    after = connect(server)
    await after.cancel(searched.run_id)  # the call is made again, and holds again
    answered = [await after.resumed(seen.run_id) for seen in (streaming, searched)]
    for seen, whole in zip((streaming, searched), answered, strict=True):
        rest = await after.resumed(seen.run_id, after=seen.ids[-1])
        assert [event.raw for event in whole.events] == [event.raw for event in (*seen.events, *rest.events)]
        assert [notice["system_type"] for notice in whole.of("system")].count("recovered") == 1
        await after.check_kept(whole)
        assert (await after.run(seen.run_id))["status"] == "finished"
    assert [whole.reason for whole in answered] == ["completed", "user_cancelled"]
    assert (streaming.answer, answered[0].answer) == ("Step 1.\n\nHalf of the", "Step 1.\n\nHalf of the answer.")
    desk.play(answers("On it goes."))
    following = await after.ask("And now?", context_id=answered[0].done["context_id"])
    assert following.answer == "On it goes."
    assert [request.complaint for request in desk.requests] == [None] * len(desk.requests)


async def test_012_fr_002_after_an_orderly_end_limits_conversations_and_streams_are_there(
    mortal_server, connect
) -> None:
    server, desk = mortal_server, mortal_server.desk
    before = connect(server)
    changed = await before.http.put(PATH, json={"max_iterations": 2, "tokenWarningPercent": 60})
    assert changed.status_code == 200
    desk.play(answers("First."), hangs(says("Half of the")))
    first = await before.ask()
    async with before.stream(context_id=first.done["context_id"]) as stream:
        await stream.until_content("Half of the")
        code = await server.stop()
    assert code == 0
    assert not stream.of("error")
    desk.play(answers(" answer."))
    await server.start()
    after = connect(server)
    kept = (await after.http.get(PATH)).json()
    assert (kept["max_iterations"], kept["token_warning_percent"], kept["token_budget"]) == (2, 60, 50_000)
    seen: Heard = await after.resumed(stream.run_id)
    assert (seen.reason, seen.answer) == ("completed", "Half of the answer.")
    assert [event.raw for event in seen.events][: len(stream.events)] == [event.raw for event in stream.events]
    for heard in (first, seen):
        recorded = await after.resumed(heard.done["run_id"])
        assert [event.raw for event in recorded.events] == [event.raw for event in heard.events]
    await after.check_kept(seen)
    desk.play(*searching(2))
    following = await after.ask("And log_in?", context_id=first.done["context_id"])
    assert following.answer.endswith("Stopped: iteration limit reached (2/2).")
    *conversation, note = desk.bodies[0]["messages"]
    assert len(conversation) == 5
    assert (note["role"], note["content"][0]["text"][:19]) == ("system", "This is turn 1 of 2")
