"""`/api/runs/{run_id}/ticks/stream`: the ticks of a run with their reasons, as they come."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from oracle.replay.histories.encoding import lists_of
from oracle.replay.histories.passes import FallenBehindError, Pass
from oracle.replay.histories.sharing import TooManyPassesError
from oracle.runs.record.events import Ticked
from oracle.runs.storage.records import RunRecord, StoredChunk
from oracle.server.api.access import CallerNow, Parts, ReadableRun, with_figures
from oracle.server.api.auth import Caller
from oracle.server.api.described import DescribedRoute, event_stream, refusals
from oracle.server.api.parts import ServiceParts
from oracle.server.api.reading import GREATEST_ID, AfterId, LastEventId, is_stalled, last_seen
from oracle.server.api.run_bodies import end_for
from oracle.server.api.sse import EventStreamResponse, chunk_events

router = APIRouter(prefix="/api/runs/{run_id}", tags=["runs"], route_class=DescribedRoute)

_EXAMPLE = """\
id: 1
data: {"type":"tick","tick":{"tick":1,"at_s":0.0,"cause":"start","visits":[]},"omitted_visits":0,"turns":[]}

id: 2
data: {"type":"end","end":{"reason":"completed","tick":1,"node":7,"sentence":"…"},"turns":[],"texts":[]}

"""

_REASONS = "Include what explains each tick: `decision`, `visits`, …; without it nothing is replayed."


@router.get(
    "/ticks/stream",
    summary="Watch the ticks of a run",
    response_class=Response,
    responses={
        200: {
            "description": "The ticks after the last id, then live ones, and the end. An id is the number of its tick.",
            "content": event_stream(_EXAMPLE, model="TickStream"),
        },
        204: {"description": "The last id was that of the end; nothing follows."},
        **refusals(404, 410),
    },
)
async def watch_ticks(
    run: ReadableRun,
    parts: Parts,
    caller: CallerNow,
    last_event_id: LastEventId = None,
    after: AfterId = None,
    reasons: Annotated[bool, Query(description=_REASONS)] = True,  # noqa: FBT002
) -> Response:
    """Each tick with what explains it, and with the turns, tool calls, notifications and texts that belong to it.

    Visits that this stream has sent before are left out: a node of `visited` without a visit, of a tick with
    `omitted_visits`, did the same as in its last one. The first event has all.

    The last event has the type `end`, and what belongs to no tick. `GET …/tree` has the nodes that ticks refer to. A
    client that reads more slowly than the run goes on loses nothing; its stream may end, to be taken up again.
    """
    seen = last_seen(last_event_id, after)
    with_figures(run)
    if run.status == "finished" and seen:
        ticks = await parts.store.log.count(run.id, kind=Ticked.kind, up_to_seq=GREATEST_ID)
        if seen > ticks:
            return Response(status_code=204)
    watcher = _Watcher(parts, run, caller, after=seen, has_reasons=reasons)
    return EventStreamResponse(
        watcher.batches(),
        events=chunk_events,
        headers={},
        reading=watcher.reading(),
        timing=parts.timing,
        streams=parts.streams,
        is_stalled=lambda: is_stalled(parts, can_return=True),
    )


class _Watcher:
    """One reader of a run's ticks.

    Args:
        parts: the parts of the service.
        run: the run.
        caller: the user who reads the ticks.
        after: the number of the last tick that it has.
        has_reasons: the reader wants what explains each tick.
    """

    def __init__(self, parts: ServiceParts, run: RunRecord, caller: Caller, *, after: int, has_reasons: bool) -> None:
        self._parts = parts
        self._run = run
        self._caller = caller
        self._after = after
        self._has_reasons = has_reasons
        self._pass: Pass | None = None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold a pass through the run while the client is connected.

        Raises:
            TooManyPassesError: there is none, and as many others are in use as may be.
        """
        self._take()
        self._parts.metrics.stream_opened()
        try:
            yield
        finally:
            self._parts.metrics.stream_closed()
            self._leave()

    async def batches(self) -> AsyncGenerator[Sequence[StoredChunk], None]:
        """The ticks after the last one that the reader has, and the end; less if too many runs are being explained.

        Raises:
            StoreUnavailableError: they cannot be read any more; the run may go on.
        """
        first = 0
        while self._pass is not None:
            try:
                async with aclosing(self._pass.follow(self._after)) as batches:
                    async for batch in batches:
                        first = first or batch[0].n
                        yield [StoredChunk(tick.n, tick.event(first)) for tick in batch]
                        self._after = batch[-1].n
            except FallenBehindError:  # a slow client; another pass has what comes next, or a new one
                self._leave()
                with suppress(TooManyPassesError):
                    self._take()
            else:
                # The last event has the number after that of the last tick.
                run, end, problem = await self._pass.facts("run", "end", "problem")
                fields = (run, end_for(end, self._caller), problem, lists_of([await self._pass.rest()]))
                yield [StoredChunk(self._pass.last + 1, b'{"type":"end","run":%b,"end":%b,"problem":%b,%b}' % fields)]
                return

    def _take(self) -> None:
        self._pass = self._parts.passes().take(self._run, after=self._after, has_reasons=self._has_reasons)

    def _leave(self) -> None:
        held, self._pass = self._pass, None
        if held is not None:
            self._parts.passes().leave(held)
