"""A server that is killed or ended while it answers: nothing that was read is lost, and every run has a true end."""

import pytest
import pytest_asyncio

from tests.acceptance.scripts import answers, calls, hangs, says
from tests.service.queries import Heard
from tests.service.scenarios import searching
from tests.service.server import Client, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def mortal_server(tmp_path_factory):
    """May be killed; it is started again on the same data."""
    async with serving(tmp_path_factory.mktemp("mortal")) as server:
        yield server


async def test_decision_27_and_28_after_a_kill_what_was_read_is_there_and_the_run_ends_truthfully(
    mortal_server,
) -> None:
    server, desk = mortal_server, mortal_server.desk
    before = Client(server)
    desk.play(*searching(1), hangs(says("Half of the")), says("Looking.", calls("search_code", query="zzhold")))
    async with before.stream() as streaming:
        await streaming.until_content("Half of the")
        async with before.stream() as searched:
            await searched.until_chunk("tool_call")
            await server.kill()
    await before.aclose()
    await server.start()
    after = Client(server)
    for seen in (streaming, searched):
        rest = await after.resumed(seen.run_id, after=seen.ids[-1])
        whole = await after.resumed(seen.run_id)
        assert [event.raw for event in whole.events] == [event.raw for event in (*seen.events, *rest.events)]
        assert whole.reason == "error"
        (error,) = whole.of("error")
        assert error["error_type"] == "interrupted"
        assert whole.last_sentence.rstrip(".") == f"Stopped: {error['error'].rstrip('.')}"
        await after.check_kept(whole)
        assert (await after.run(seen.run_id))["status"] == "finished"
    assert streaming.answer == "Step 1.\n\nHalf of the"
    (cancelled,) = whole.of("tool_result")
    assert cancelled["is_error"]
    desk.play(answers("On it goes."))
    following = await after.ask("And now?", context_id=whole.done["context_id"])
    assert following.answer == "On it goes."
    assert [request.complaint for request in desk.requests] == [None]
    await after.aclose()


async def test_a_server_that_is_asked_to_end_lets_its_streams_end_in_order(mortal_server) -> None:
    server, desk = mortal_server, mortal_server.desk
    server.settings["ORACLE_DRAIN_S"] = "0"
    await server.stop()
    await server.start()
    before = Client(server)
    desk.play(hangs(says("Half of the")))
    async with before.stream() as stream:
        await stream.until_content("Half of the")
        code = await server.stop()
        seen: Heard = await stream.rest()
    await before.aclose()
    assert code == 0
    assert seen.reason == "error"
    assert [error["error_type"] for error in seen.of("error")] == ["service_stopping"]
    await server.start()
    after = Client(server)
    assert (await after.resumed(stream.run_id)).chunks == seen.chunks
    await after.check_kept(seen)
    await after.aclose()
