"""Finds out whether the next tick of a run begins a node with a breakpoint, before the run makes that tick.

A copy of the run is built from its log, as for a replay, and makes each tick first: with the same inputs it does the
same, and starts no work. So the run itself is only held, its log is that of a run without breakpoints, and a change
that an operator makes meanwhile is an input of the tick that follows.

Rules:

- The copy stops at a node that is about to begin. It is thrown away then, because its tick cannot be ended, and a new
  one is built when the run goes on.
- A node that asks for work is let begin: its work starts after the tick, and the run is held before that, with all
  values of the tick.
- Where the copy differs from what the run did, it is built again once. If it still does, or it cannot be built,
  nothing more is foreseen for the run, and breakpoints are hit after their tick.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Final

import structlog

from bt_runtime import Registry, Replaying, Status, TickRecord, TreeDefinition, did_the_same
from bt_runtime.nodes.base import Action, Node
from bt_runtime.record.recording import TickInput
from bt_runtime.text.data import dataclass
from oracle.core.chunks import Source, SourceFound
from oracle.core.logs import quiet
from oracle.replay.recorded import rebuild_query
from oracle.runs.debugging.watching import BreakpointWatch, Foreseen, Foresight
from oracle.runs.record.debug import BreakpointHit
from oracle.runs.record.events import ChunkSent, LogEvent, Opened, Ticked
from oracle.runs.record.reading import read_on
from oracle.runs.record.record import Record
from oracle.runs.repeating import RebuiltRun
from oracle.runs.storage.errors import StorageError
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.store import Store

log = structlog.get_logger(__name__)

_SLICE_S: Final = 0.005
"""After this time without a wait, other tasks run."""


class _Stop(BaseException):
    """Ends the tick of a copy before a node; no `except Exception` of a node or its parents catches it."""

    def __init__(self, hit: BreakpointHit) -> None:
        super().__init__(hit.path)
        self.hit = hit


class _DiffersError(Exception):
    """The copy has not done what the run did."""


def foresight_of(store: Store, registry: Registry) -> Callable[[RunRecord, TreeDefinition], Foresight]:
    """Makes the foresight of each run of a store."""
    return partial(RunForesight, store, registry)


class RunForesight(Foresight):
    """Knows what the next tick of one run will do.

    Args:
        store: has the log of the run.
        registry: the kinds of its tree.
        run: its row.
        definition: its tree.
    """

    def __init__(self, store: Store, registry: Registry, run: RunRecord, definition: TreeDefinition) -> None:
        self._store = store
        self._copy_of_run = partial(_Copy, run, definition, registry)
        self._run_id = run.id
        self._copy: _Copy | None = None
        self._has_failed = False

    async def look(self, given: TickInput, watch: BreakpointWatch, *, passed: Sequence[str]) -> Foreseen | None:
        """What the tick will hit; `None` if that is not known."""
        if self._has_failed:
            return None
        try:
            copy = await self._at_present()
            found = copy.look(given, watch, passed)
        except Exception as error:  # whatever goes wrong with a copy must not touch the run
            log.exception("debug.not_foreseen", run_id=self._run_id)
            self._copy, self._has_failed = None, not isinstance(error, StorageError)
            return None
        if found.ahead is not None:
            self._copy = None
        return found

    async def _at_present(self) -> "_Copy":
        await self._store.write(lambda _: None)  # so that all ticks are in the log
        if self._copy is not None:
            try:
                await self._copy.follow(self._store, self._run_id)
            except _DiffersError:
                self._copy = None
        if self._copy is None:
            copy = self._copy_of_run()
            await copy.follow(self._store, self._run_id)
            self._copy = copy
        return self._copy


@dataclass(slots=True)
class _Look:
    """A tick that is looked at."""

    watch: BreakpointWatch
    passed: list[str]
    begun: list[BreakpointHit]

    def stops_at(self, hit: BreakpointHit) -> bool:
        """Whether the run is to be held before the node; not where it was held there in this tick."""
        if hit.path not in self.passed:
            return True
        self.passed.remove(hit.path)
        return False


class _Copy:
    """A run that is repeated while it is recorded, and may be one tick ahead."""

    def __init__(self, run: RunRecord, definition: TreeDefinition, registry: Registry) -> None:
        self._rebuild = partial(rebuild_query, run, definition=definition, registry=registry, stops={})
        self._record = Record(keeps_events=True)
        self._sources: dict[int, tuple[Source, ...]] = {}
        self._rebuilt: RebuiltRun | None = None
        self._player: Replaying | None = None
        self._ahead: TickRecord | None = None
        self._nodes: dict[str, Node[Any]] = {}
        self._look: _Look | None = None

    async def follow(self, store: Store, run_id: str) -> None:
        """Repeat what the log has of the run beyond what is known.

        Raises:
            _DiffersError: it is not what the copy does.
            StorageError: the log cannot be read.
        """
        await read_on(self._record, store.log, run_id)
        since_s = perf_counter()
        for tick, event in self._record.events:
            self._take(tick, event)
            if perf_counter() - since_s > _SLICE_S:
                await asyncio.sleep(0)
                since_s = perf_counter()
        self._record.events.clear()

    def look(self, given: TickInput, watch: BreakpointWatch, passed: Sequence[str]) -> Foreseen:
        """Make the tick that comes next, and say what it hits; the copy is of no use after an `ahead`.

        Raises:
            _DiffersError: the copy has not been built, or has ended.
        """
        cause, causes, at_s, outcomes, deliveries = given
        tick = TickRecord(self._record.ticks + 1, at_s, cause, causes, outcomes, deliveries, (), (), (), ())
        for path in watch.nodes:
            node = self._nodes.get(path)
            if node is not None:
                vars(node).setdefault("step", partial(self._step, node))
        self._look = _Look(watch, list(passed), [])
        try:
            self._ahead = self._play(tick)
        except _Stop as stop:
            return Foreseen(ahead=stop.hit)
        else:
            return Foreseen(begun=self._look.begun)
        finally:
            self._look = None

    def _take(self, tick: int, event: LogEvent) -> None:
        match event:
            case Opened():
                self._rebuilt = self._rebuild(opened=event, sources=self._sources)
                tree = self._rebuilt.tree
                self._player = Replaying(tree, before_outcome=self._rebuilt.speak)
                self._nodes = {node.path: node for node in tree.nodes}
            case ChunkSent(SourceFound(source)):
                self._sources[tick] = (*self._sources.get(tick, ()), source)
            case Ticked(recorded):
                found, self._ahead = self._ahead or self._play(recorded), None
                if self._rebuilt is None or not did_the_same(found, recorded, *[self._rebuilt.tree.paths] * 2):
                    raise _DiffersError(f"tick {recorded.tick}")

    def _play(self, tick: TickRecord) -> TickRecord:
        if self._rebuilt is None or self._player is None or not self._player.is_running:
            raise _DiffersError(f"no tick {tick.tick}")
        with quiet():
            self._rebuilt.prepare(tick)
            found = self._player.play(tick)
        self._sources.pop(tick.tick, None)
        if found is None:
            raise _DiffersError(f"no tick {tick.tick}")
        return found

    def _step(self, node: Node[Any]) -> Status:
        """Step a node that has a breakpoint, or had one."""
        go_on = node.step_forced if node.is_forced else partial(type(node).step, node)
        look, context = self._look, node.run
        if look is None:
            return go_on()
        begins = node.status is not Status.RUNNING
        if isinstance(node, Action):
            hit, known = look.watch.at_node(node.path, node.run.blackboard, is_ahead=False), context.posted
            status = go_on()
            asks = any(request.node is node for request in context.posted if request not in known)
            if hit is not None and asks:
                look.begun.append(hit)
            if hit is None or asks or not begins or not look.stops_at(hit):
                return status
            raise _Stop(BreakpointHit(hit.breakpoint, hit.kind, hit.path, hit.expression, is_ahead=True))
        hit = look.watch.at_node(node.path, node.run.blackboard, is_ahead=True) if begins else None
        if hit is not None and look.stops_at(hit):
            raise _Stop(hit)
        return go_on()
