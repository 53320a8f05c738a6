"""A result that is too large for a turn: head and tail for the model, the whole kept, and read by `read_result`."""

from collections.abc import Mapping
from typing import Any

import pytest

from oracle.agent.equipment import Hooks
from oracle.agent.nodes import REGISTRY
from oracle.features.large_results.keeping import KeptResults, large_result
from oracle.features.large_results.reading import NAME, read_result
from oracle.features.large_results.results import LargeResults, MemoryShelf
from oracle.replay.recorded import read_run, repeat
from oracle.runs.storage.archive import open_archive
from oracle.runs.storage.errors import StoreUnavailableError
from oracle.runs.storage.store import Store, open_store
from oracle.tools import Tool, ToolResult
from oracle.tools.text import KEPT_CHARS, OUTPUT_CHARS
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.runs.running import Told, managed

LINES = [f"line {number}: {'x' * 80}" for number in range(5_000)]
WHOLE = "\n".join(LINES)


def probe(text: str = WHOLE, *, is_error: bool = False) -> Tool:
    async def call(_arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult(text, is_error=is_error)

    return made_tool(call)


def fitting(store: Store | None) -> dict[str, Any]:
    """As a service has it, or a command."""
    shelf = MemoryShelf() if store is None else KeptResults(store.database, writer=store.writer)
    results = LargeResults(shelf)
    return {"hooks": Hooks(keep_result=results, parts={NAME: results})}


def result_id(text: str) -> str:
    return text.partition("with id '")[2].partition("'")[0]


async def ask(store: Store, *reads: Mapping[str, Any], text: str = WHOLE, kept: bool = True) -> Told:
    """A question whose first call brings the text; then come these calls of `read_result`, with its id in them."""
    # The id comes of the text, so it is known before.
    shortened = await LargeResults(MemoryShelf())("run", "call", ToolResult(text))
    found = result_id(shortened.text)
    turns = [says("Looking.", calls("probe"))]
    turns += [says("On.", calls("read_result", **{"id": found, **each})) for each in reads]
    fitted = fitting(store) if kept else {}
    async with managed(store, [*turns, answers()], tools=[probe(text), read_result], **fitted) as it:
        told = await it.ask(limits={"token_budget": 200_000})
        assert it.harness.scripted is not None
        offered = [[each.name for each in request.tools] for request in it.harness.scripted.requests]
    is_large = kept and len(text) > OUTPUT_CHARS
    assert ["read_result" in names for names in offered] == [False, *[is_large] * (len(offered) - 1)]
    return told


def results(told: Told) -> list[str]:
    return [chunk["tool_result"] for chunk in told.chunks if chunk["type"] == "tool_result"]


@pytest.fixture
async def store(url: str) -> Any:
    async with open_store(url, worker="w1") as opened:
        yield opened


async def test_the_model_gets_head_and_tail_and_reads_on(store: Store) -> None:
    reads = [{"start": 12_000, "length": 100}, {"search": "LINE 4321:"}, {"search": "line 1"}]
    cut, page, place, places = results(await ask(store, *reads))
    assert cut.startswith(f"{LINES[0]}\n")
    assert cut.endswith(LINES[-1])
    assert len(cut) < 17_000
    assert f"of {len(WHOLE):,} characters are left out here" in cut
    start = int(cut.partition("and start ")[2].partition(" ")[0])
    assert WHOLE[:start] == cut[:start]
    assert page.endswith(WHOLE[12_000:12_100])
    assert "[Characters 12,000 to 12,100" in page
    assert LINES[4321] in place
    assert f"[At {WHOLE.index('line 4321:'):,}]" in place
    assert places.count("[At ") == 20
    assert "There are more" in places


@pytest.mark.parametrize(
    ("read", "told"),
    [
        ({"id": "another"}, "no large result 'another'"),
        ({"start": len(WHOLE)}, "start must be from 0 to"),
        ({"start": -1}, "start must be from 0 to"),
        ({"search": "no such words"}, "does not stand in the result"),
    ],
)
async def test_what_cannot_be_read_is_said(store: Store, read: Mapping[str, Any], told: str) -> None:
    assert told in results(await ask(store, read))[1]


async def test_results_of_another_run_are_none_of_this_one(store: Store) -> None:
    told = await ask(store)
    found = result_id(results(told)[0])
    shelf = KeptResults(store.database, writer=store.writer)
    assert await shelf.find(told.record.id, found) == WHOLE
    assert await shelf.find("another", found) is None
    assert not await shelf.keep("another", found, WHOLE)  # there is no such run


async def test_a_result_that_fits_is_left_alone_and_so_is_every_one_where_nothing_keeps_them(store: Store) -> None:
    small = "x" * OUTPUT_CHARS
    assert results(await ask(store, text=small)) == [small]
    (cut,) = results(await ask(store, kept=False))
    assert len(cut) == OUTPUT_CHARS
    assert "[Cut: the first 32,000" in cut


async def test_a_text_beyond_all_bounds_is_kept_up_to_them(store: Store) -> None:
    told = await ask(store, text="y" * (KEPT_CHARS + 5))
    kept = await KeptResults(store.database, writer=store.writer).find(told.record.id, result_id(results(told)[0]))
    assert kept is not None
    assert len(kept) == KEPT_CHARS
    assert kept.endswith("a range of lines.]")


async def test_a_store_that_cannot_be_written_costs_the_rest_and_not_the_result() -> None:
    class Full(MemoryShelf):
        async def keep(self, run_id: str, result_id: str, text: str) -> bool:
            raise StoreUnavailableError("the disk is full")

    found = await LargeResults(Full())("run", "call", ToolResult(WHOLE))
    assert (len(found.text), found.offers) == (OUTPUT_CHARS, ())
    shelf = MemoryShelf()
    kept = [(await LargeResults(shelf)("run", "c", ToolResult(f"{n}" * 2_000_000))).offers != () for n in range(10)]
    assert kept == [True] * 10
    assert (await LargeResults(shelf)("run", "c", ToolResult(WHOLE))).offers == ()
    assert (await LargeResults(shelf)("run", "tree_1", ToolResult("z" * 40_000))).offers == ()


async def test_the_texts_go_with_those_of_the_run_and_a_replay_needs_none(store: Store, url: str) -> None:
    told = await ask(store, {"search": "line 7:"})
    async with open_archive(url) as archive:
        replayed = repeat(await read_run(archive, told.record), registry=REGISTRY)
    assert (replayed.diverged_at, replayed.missing) == (None, ())
    count = large_result.select()
    assert len(await store.database.read(lambda connection: connection.execute(count).all())) == 1
    assert await store.conversations.forget("local", told.record.context_id)
    assert await store.database.read(lambda connection: connection.execute(count).all()) == []


@pytest.mark.long("PostgreSQL")
async def test_postgresql_keeps_and_deletes_them_too(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="w1") as store:
        told = await ask(store, {"search": "line 4321:"})
        assert LINES[4321] in results(told)[1]
        assert await store.conversations.forget("local", told.record.context_id)
        rows = await store.database.read(lambda connection: connection.execute(large_result.select()).all())
        assert rows == []
