"""Headers of the user's request: tools have them in the process that has taken it, and nothing keeps them."""

from collections.abc import Mapping
from typing import Any

from oracle.runs.storage.store import open_store
from oracle.tools import ToolResult
from oracle.tools.keys import user_headers
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.runs.running import Gate, managed
from tests.oracle.runs.storage.test_conversations import rows_with
from tests.oracle.runs.test_continuing import restarted, until_killed
from tests.oracle.runs.test_waiting_runs import HANGING, ONE

TURNS = [says("Looking.", calls("probe")), answers("Done.")]
SECRET = "sesame-open"
HEADERS = {"x-tenant": SECRET}


class Seeing(Gate):
    """Notes what each call may hand on."""

    seen: list[Mapping[str, str] | None]

    async def __call__(self, arguments: Mapping[str, Any]) -> ToolResult:
        self.seen = [*getattr(self, "seen", ()), user_headers()]
        return await super().__call__(arguments)


async def test_calls_have_the_headers_of_their_own_query(url: str) -> None:
    probe = Seeing()
    probe.open.set()
    async with open_store(url, worker="w") as store, managed(store, TURNS * 3, tools=[made_tool(probe)]) as it:
        for headers in (HEADERS, {}, None):
            await it.ask(headers=headers)
        assert await rows_with(store, SECRET) == []
    assert probe.seen == [HEADERS, {}, None]
    assert user_headers() is None


async def test_they_are_not_known_where_the_query_goes_on_in_another_process(url: str) -> None:
    probe = Seeing()
    record = await until_killed(url, TURNS[:1], gate=probe, tools=[made_tool(probe)], ask={"headers": HEADERS})
    probe.open.set()
    async with restarted(url, TURNS[1:], tools=[made_tool(probe)]) as it:
        assert (await it.told(record)).text == "Looking.\n\nDone."
    assert probe.seen == [HEADERS, None]


async def test_they_are_not_known_where_the_query_has_waited_for_a_place(url: str) -> None:
    probe, turns = Seeing(), [HANGING, *TURNS]
    probe.open.set()
    tools = [made_tool(probe)]
    async with open_store(url, worker="w") as store, managed(store, turns, tools=tools, options=ONE) as it:
        first = await it.start()
        await it.until_text(first.record, "Half of the")
        waiting = await it.start(headers=HEADERS)
        assert waiting.record.status == "queued"
        first.cancel()
        assert (await it.told(waiting.record)).text == "Looking.\n\nDone."
        assert await rows_with(store, SECRET) == []
    assert probe.seen == [None]
