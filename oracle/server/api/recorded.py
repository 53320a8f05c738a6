"""`/api/runs/{run_id}/…`: what is recorded of a run, and what explains it. A page is bounded by items and by bytes.

What explains a run is made while it is read (`oracle.replay.histories.passes.Pass`): the first page costs a repetition
of its first ticks, and later pages go on from there.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query
from starlette.responses import Response

from oracle.core.encoding import from_json, to_json
from oracle.replay.histories.encoding import ExplainedTick, lists_of
from oracle.replay.histories.model import FORMAT, VERSION
from oracle.replay.histories.passes import FallenBehindError, Pass
from oracle.runs.record.reading import read_signal_page, read_tick_page
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import CallerNow, Parts, ReadableRun, with_figures
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import raw_json
from oracle.server.api.history_replies import HistoryPage, RunTree, TurnList
from oracle.server.api.parts import ServiceParts
from oracle.server.api.reading import GREATEST_ID
from oracle.server.api.replies import SignalList, TickList
from oracle.server.api.run_bodies import end_for

T = TypeVar("T")

_PAGE_BYTES = 1_000_000
_MOST_BYTES = 8_000_000

router = APIRouter(prefix="/api/runs/{run_id}", tags=["runs"], route_class=DescribedRoute)

_REASONS = ("turn", "decision", "headline", "marks", "why", "visits")

After = Annotated[int, Query(ge=0, le=GREATEST_ID, description="`next` of the previous page.")]
AfterTick = Annotated[
    int, Query(ge=0, le=GREATEST_ID, description="Only what follows this tick: `next` of the previous page.")
]
Limit = Annotated[int, Query(ge=1, le=1000)]
MaxBytes = Annotated[
    int,
    Query(
        ge=1_000,
        le=_MOST_BYTES,
        description="The greatest size of a page's items, in bytes; a larger item gets a separate page.",
    ),
]


@router.get("/ticks", summary="Recorded ticks", response_model=TickList, responses=refusals(404, 410))
async def read_ticks(
    run: ReadableRun,
    parts: Parts,
    after: After = 0,
    limit: Limit = 200,
    max_bytes: MaxBytes = _PAGE_BYTES,
    reasons: Annotated[bool, Query(description="Include what explains each tick: `decision`, `visits`, …")] = False,  # noqa: FBT002
) -> Response:
    """Inputs and effects of each tick: status changes, blackboard writes, the cause; oldest first."""
    ticks: Sequence[bytes]
    if reasons:
        ticks, following = await _explained_ticks(run, parts, after=after, limit=limit, max_bytes=max_bytes)
    else:
        page = await read_tick_page(
            parts.store.log, with_figures(run).id, after=after, limit=limit, max_bytes=max_bytes
        )
        ticks, following = page.items, page.next
    tree = await parts.store.trees.find(run.tree_sha) if run.tree_sha else None
    head = {
        "run_id": run.id,
        "tree": run.tree,
        "version": run.tree_sha,
        "nodes": list(tree.nodes) if tree else [],
        "next": following,
    }
    return raw_json(_with_list(head, "ticks", ticks))


@router.get("/signals", summary="List the signals of a run", response_model=SignalList, responses=refusals(404, 410))
async def read_signals(
    run: ReadableRun, parts: Parts, after: After = 0, limit: Limit = 200, max_bytes: MaxBytes = _PAGE_BYTES
) -> Response:
    """Every signal of the model, well-formed or not, and what the control did about it; oldest first."""
    page = await read_signal_page(parts.store.log, with_figures(run).id, after=after, limit=limit, max_bytes=max_bytes)
    return raw_json(_with_list({"run_id": run.id, "next": page.next}, "signals", page.items))


@router.get("/history", summary="Show what happened, and why", response_model=HistoryPage, responses=refusals(404, 410))
async def read_history(
    run: ReadableRun,
    parts: Parts,
    caller: CallerNow,
    after: AfterTick = 0,
    limit: Limit = 200,
    max_bytes: MaxBytes = _PAGE_BYTES,
    head: Annotated[
        bool | None, Query(description="Include `tree` and `keys`; by default only on the first page.")
    ] = None,
) -> Response:
    """A run with its reasons: ticks, and the turns, tool calls, notifications and texts that belong to them.

    The pages of a run together are one exported run: the lists joined, and all else as the last page has it. Items that
    belong to no tick yet are on the page without `next`; while the run goes on they come again with their tick.
    """

    async def work(it: Pass) -> bytes:
        ticks, is_cut = await it.page(after, limit=limit, max_bytes=max_bytes)
        has_head = head if head is not None else after == 0
        names = ("run", "end", "problem", "unexplained_from", *(("tree", "keys") if has_head else ()))
        facts = dict(zip(names, await it.facts(*names), strict=True))
        facts["end"] = end_for(facts["end"], caller)
        fields = b",".join(b'"%b":%b' % (name.encode(), each) for name, each in facts.items())
        belonging = [tick.parts for tick in ticks]
        if not is_cut:
            belonging.append(await it.rest())
        following = {"next": ticks[-1].n if is_cut else None, "format": FORMAT, "version": VERSION}
        listed = b",".join(tick.tick for tick in ticks)
        return b'%b,%b,"ticks":[%b],%b}' % (to_json(following)[:-1], fields, listed, lists_of(belonging))

    return raw_json(await explained(run, parts, work, after=after))


@router.get("/tree", summary="Show the tree of a run", response_model=RunTree, responses=refusals(404, 410))
async def read_run_tree(run: ReadableRun, parts: Parts) -> Response:
    """The version that ran: its nodes with their places, the texts of its files, the keys and their first values."""

    async def work(it: Pass) -> bytes:
        tree, keys, problem = await it.facts("tree", "keys", "problem")
        return b'{"run_id":%b,"tree":%b,"keys":%b,"problem":%b}' % (to_json(run.id), tree, keys, problem)

    return raw_json(await explained(run, parts, work, after=0))


@router.get("/turns", summary="Requests and responses", response_model=TurnList, responses=refusals(404, 410))
async def read_turns(
    run: ReadableRun, parts: Parts, after: AfterTick = 0, limit: Limit = 50, max_bytes: MaxBytes = _PAGE_BYTES
) -> Response:
    """What the model was asked in each turn, as far as it is recorded, and its raw response; oldest first.

    A turn that is under way is on the page without `next`.
    """

    async def work(it: Pass) -> bytes:
        turns: list[bytes] = []
        position, size, is_cut = after, 0, False
        while not is_cut and (batch := await it.after(position)):
            for tick in batch:
                found = tick.parts["turns"]
                size += sum(map(len, found))
                if turns and found and (size > max_bytes or len(turns) + len(found) > limit):
                    is_cut = True
                    break
                turns += found
                position = tick.n
        if not is_cut:
            turns += (await it.rest())["turns"]
        head = {"run_id": run.id, "next": position if is_cut else None}
        return _with_list(head, "turns", turns)

    return raw_json(await explained(run, parts, work, after=after))


async def explained(run: RunRecord, parts: ServiceParts, work: Callable[[Pass], Awaitable[T]], *, after: int) -> T:
    """What `work` makes of a pass through the run that has the tick after a number before it.

    Raises:
        ForgottenRunError: its texts were deleted.
        TooManyPassesError: as many runs are being explained as may be.
    """
    with_figures(run)
    while True:
        with parts.passes().taken(run, after=after) as taken:
            try:
                return await work(taken)
            except FallenBehindError:  # other readers have read on in between: another pass has it, or a new one
                continue


async def _explained_ticks(
    run: RunRecord, parts: ServiceParts, *, after: int, limit: int, max_bytes: int
) -> tuple[Sequence[bytes], int | None]:
    """Recorded ticks with their reasons, and the number after which the next page begins."""
    recorded = await read_tick_page(
        parts.store.log, with_figures(run).id, after=after, limit=limit, max_bytes=_MOST_BYTES
    )
    plain = {fields["tick"]: fields for fields in map(from_json, recorded.items) if type(fields["tick"]) is int}
    if not plain:
        return [], recorded.next
    before = max(0, min(plain) - 1)

    async def work(it: Pass) -> tuple[Sequence[ExplainedTick], bool]:
        return await it.page(before, limit=len(plain), max_bytes=max_bytes)

    ticks, is_cut = await explained(run, parts, work, after=before)
    ticks = [
        each for each in ticks if each.n in plain and each.seq > after
    ]  # others are there where the log is damaged
    if not ticks:
        return [], recorded.next
    return [_with_reasons(plain[each.n], each) for each in ticks], ticks[-1].seq if is_cut else None


def _with_reasons(recorded: dict[str, Any], tick: ExplainedTick) -> bytes:
    facts = from_json(tick.tick)
    return to_json(recorded | {name: facts[name] for name in _REASONS})


def _with_list(head: dict[str, Any], name: str, items: Sequence[bytes]) -> bytes:
    """The object with one more field, whose items are JSON already."""
    return b'%b,"%b":[%b]}' % (to_json(head)[:-1], name.encode(), b",".join(items))
