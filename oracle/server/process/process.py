"""The life of a serving process: check, bind, open, listen, drain, close."""

import asyncio
import gc
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Final, Literal

import structlog
import uvloop

from bt_runtime.text.data import dataclass
from oracle.core.errors import OperatorError
from oracle.core.logs import written_in_background
from oracle.llm.protocol import Model
from oracle.server.api.app import build_app
from oracle.server.api.load import Buckets, SharedBuckets
from oracle.server.api.parts import ServiceParts
from oracle.server.process.figures import figures_of_all
from oracle.server.process.server import SIGNALS, DrainingServer, address, bind, is_loopback
from oracle.server.process.workers import Worker, WorkerProcesses
from oracle.server.settings.fields import Settings
from oracle.server.settings.tokens import STRONG_TOKEN_CHARACTERS
from oracle.server.wiring.agent import note_of_window
from oracle.server.wiring.service import open_service

log = structlog.get_logger(__name__)

_LAST_CHUNKS_S: Final = 1.0
"""For streams to send the ends of their runs, once all runs have ended."""
_STOP_S: Final = 5.0
"""After the time that runs have for their drain, for a worker to end."""
_ACCEPTED: Final = 32
"""Connections that are accepted in a round of the event loop: libuv accepts one a listening socket (libuv/libuv#3696).
With a single one, probes and refusals would wait behind each connection that came before, for a round each."""
_LOOK_S: Final = 0.02
_LAG_INTERVAL_S: Final = 0.25
_LONG_LAG_S: Final = 1.0
_SWITCH_S: Final = 0.0005
_GARBAGE: Final = (10_000, 2, 500)  # objects, and how often the younger are looked at before the older


@dataclass(frozen=True, slots=True)
class Listening:
    """What a listening service announces; none of it is secret.

    Args:
        url: where it listens.
        model: the name of the model that answers.
        control: the setting that says what drives a query.
        store: the kind of database.
        auth: the ways in which users are authenticated, for people.
        note: what the operator should know about the model; or nothing.
    """

    url: str
    model: str
    control: str
    store: Literal["SQLite", "PostgreSQL"]
    auth: str
    note: str


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """The place of a worker among all that its parent has forked, and what they have in common besides the store.

    Args:
        worker: what it has from its parent.
        figures: sockets by which workers ask each other for their figures, in the order of their numbers.
        buckets: keep how many requests users may still send to all of them.
    """

    worker: Worker
    figures: Sequence[socket.socket]
    buckets: Buckets


def run_service(
    settings: Settings, *, host: str, port: int, announce: Callable[[Listening], None], workers: int = 1
) -> int:
    """Serve until a signal comes, in a new event loop or in several workers; see `serve`, `WorkerProcesses.run`."""

    def work(place: WorkerPlace | None = None) -> int:
        with written_in_background(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(serve(settings, host=host, port=port, announce=announce, place=place))

    if workers == 1:
        return work()
    listener = bind(host, port)
    figures = [bind("127.0.0.1", 0) for _ in range(workers)]
    place = partial(WorkerPlace, figures=figures, buckets=SharedBuckets())
    stop_s = settings.drain_s + _STOP_S
    return WorkerProcesses(workers, listener=listener, work=lambda worker: work(place(worker)), stop_s=stop_s).run()


async def serve(
    settings: Settings,
    *,
    host: str,
    port: int,
    announce: Callable[[Listening], None],
    model: Model | None = None,
    place: WorkerPlace | None = None,
) -> int:
    """Serve until a signal comes, then drain.

    Args:
        settings: the operator's.
        host: where to listen.
        port: 0 picks a free one.
        announce: called once, when the first request can be answered.
        model: answers in the place of the configured one.
        place: of this process among several workers; `None`: it is alone.

    Returns:
        The exit code.

    Raises:
        OperatorError: the service must not or cannot listen there.
        SettingsError, ToolSetupError, PromptError, StoreSetupError, TreeFileError: see `open_service`.
    """
    refuse_open_door(settings, host=host)
    if settings.tokens.has_weak:
        log.warning(
            "auth.weakened",
            problem=f"a token can be guessed: each should have at least {STRONG_TOKEN_CHARACTERS} random characters",
        )
    listener = bind(host, port) if place is None else place.worker.listener
    async with AsyncExitStack() as stack:
        stack.callback(listener.close)
        parts = await stack.enter_async_context(open_service(settings, model=model))
        if place is not None:
            own = parts.metrics.exposition
            figures = await stack.enter_async_context(figures_of_all(place.worker.number, place.figures, own=own))
            parts = replace(parts, figures=figures, buckets=place.buckets)
        about = _listening(parts, url=address(host, listener.getsockname()[1]))

        def listening() -> None:
            _settle_interpreter()
            log.info(
                "service.started",
                url=about.url,
                model=about.model,
                store=about.store,
                worker=parts.store.worker,
            )
            if about.note:
                log.info("prompt.shortened", problem=about.note)
            if place is not None:
                _obey(place.worker, server)
            if place is None or place.worker.is_first:
                announce(about)

        server = DrainingServer(
            build_app(parts),
            drain=lambda: _drain(parts),
            on_listening=listening,
            signals=SIGNALS if place is None else (),
        )
        await stack.enter_async_context(measured_lag(partial(_note_lag, parts, place)))
        await server.serve(sockets=[listener, *(listener.dup() for _ in range(_ACCEPTED - 1))])
    log.info("service.stopped")
    return 0


def refuse_open_door(settings: Settings, *, host: str) -> None:
    """Refuse to listen on other addresses than loopback without authentication.

    Raises:
        OperatorError: other machines could connect.
    """
    if not settings.has_auth and not is_loopback(host):
        raise OperatorError(
            f"without authentication the service listens on loopback only, not on {host!r}; "
            "set ORACLE_JWT_SECRET, ORACLE_TOKENS or ORACLE_OIDC_ISSUERS, or use --host 127.0.0.1"
        )


def _obey(worker: Worker, server: DrainingServer) -> None:
    """Tell the parent that the worker listens, and stop when the parent asks for it."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        loop.remove_reader(worker.stopping)
        server.begin_drain()

    loop.add_reader(worker.stopping, stop)
    worker.beat()


def _note_lag(parts: ServiceParts, place: WorkerPlace | None, seconds: float) -> None:
    if place is not None:
        place.worker.beat()
    parts.metrics.loop_lag(seconds)
    parts.load.note(seconds)


async def _drain(parts: ServiceParts) -> None:
    """End the runs, let their streams send the last chunks, then close the streams that are left."""
    await parts.runs.drain()
    loop = asyncio.get_running_loop()
    until_s = loop.time() + _LAST_CHUNKS_S
    while parts.streams.open and loop.time() < until_s:  # noqa: ASYNC110  once in a process's life
        await asyncio.sleep(_LOOK_S)
    parts.streams.close()


def _listening(parts: ServiceParts, *, url: str) -> Listening:
    settings = parts.settings
    ways = (("JWT", settings.jwt_secret), ("tokens", settings.tokens), ("OIDC", settings.oidc_issuers))
    kinds = [name for name, on in ways if on]
    return Listening(
        url=url,
        model=parts.oracle.model_name,
        control=settings.control,
        store="PostgreSQL" if parts.store.is_shared else "SQLite",
        auth=" and ".join(kinds) if kinds else "none (one user, this machine only)",
        note=note_of_window(parts.oracle),
    )


def _settle_interpreter() -> None:
    """Tune the garbage collector and thread switching for many streams.

    What exists now lives as long as the process: it is taken out of the collector's sight, uncollected, as there is
    next to no garbage among it. The rest is collected seldom, because each full collection stops every stream, and in
    small young generations for the same reason: one of 20 000 objects takes 20-45 ms. Runs leave no cycles behind: what
    a collection would look at is mostly gone before 10 000 objects have come together.

    A thread that waits for the interpreter asks for it every 0.5 ms instead of 5: a commit asks several times, and with
    200 streams the event loop is seldom idle. That halves the time from the model to the client (`make bench`).
    """
    gc.freeze()
    gc.set_threshold(*_GARBAGE)
    sys.setswitchinterval(_SWITCH_S)


@asynccontextmanager
async def measured_lag(
    observe: Callable[[float], None], *, interval_s: float = _LAG_INTERVAL_S, long_s: float = _LONG_LAG_S
) -> AsyncIterator[None]:
    """Measure how late the event loop is while this is entered: the figure that shows whether one process is enough.

    Args:
        observe: gets the lag in seconds, four times a second.
        interval_s: between two measurements.
        long_s: a lag of at least this is logged as well.
    """
    task = asyncio.create_task(_measure_lag(observe, interval_s, long_s), name="loop lag")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _measure_lag(observe: Callable[[float], None], interval_s: float, long_s: float) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due_s = loop.time() + interval_s
        await asyncio.sleep(interval_s)
        lag_s = max(0.0, loop.time() - due_s)
        observe(lag_s)
        if lag_s >= long_s:
            log.warning("loop.lagged", ms=round(lag_s * 1000))
