"""The service over a real socket: uvicorn in the test's loop, a real store, a model that follows a script."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
import structlog
import uvicorn
from starlette.routing import BaseRoute

import trees
from bt_runtime import Clock, Registry, SystemClock, TreeLibrary
from oracle.agent.answering import Oracle
from oracle.agent.equipment import Equipment, Hooks
from oracle.agent.nodes import REGISTRY
from oracle.agent.tracing import NO_TRACES, Traces
from oracle.authoring.editor import TreeEditor
from oracle.authoring.figures import AnswerCounts, TrialResults
from oracle.authoring.trials import Trials
from oracle.classify.protocol import NO_ENCODER, Encoder
from oracle.console.built import Console
from oracle.core.features import features
from oracle.core.logs import configure_logging
from oracle.core.metrics import Metrics
from oracle.features.debugging.foresight import foresight_of
from oracle.features.usage.prices import Prices
from oracle.replay.histories.sharing import Passes
from oracle.runs.debugging.debugger import Debugger
from oracle.runs.manager import RunManager
from oracle.runs.options import RunOptions
from oracle.runs.storage.store import open_store
from oracle.server.api.adapters import Adapter, adapters_of
from oracle.server.api.app import build_app
from oracle.server.api.parts import ServiceParts
from oracle.server.api.sse import StreamTiming
from oracle.server.settings.fields import Settings
from oracle.server.wiring.identity import authenticator
from oracle.testing import ScriptedModel, ScriptedTurn
from oracle.tools import Tool, ToolRegistry, project_tools, vault_tools
from oracle.tools.protocol import ChangingTools
from tests.oracle.server.api.streams import Streamed, read_stream
from tests.support import shipped
from tests.support.databases import DATABASES
from tests.support.stores import sqlite_url

TIMESTAMP = "2026-01-02T03:04:05.000Z"
ALICE, BOB, OLGA = ({"Authorization": f"Bearer {name}-token-0123456789"} for name in ("alice", "bob", "olga"))
TOKENS = {each["Authorization"].removeprefix("Bearer "): name for each, name in ((ALICE, "alice"), (BOB, "bob"))}
OPERATOR = {OLGA["Authorization"].removeprefix("Bearer "): "olga"}
HANGS = ScriptedTurn(text=("It begins ", "here "), hang=True)
"""A turn that says something and goes on until it is cancelled."""


in_shared_loop = pytest.mark.asyncio(loop_scope="module")


@dataclass(slots=True)
class Service:
    """A running service and a client of it."""

    parts: ServiceParts
    client: httpx2.AsyncClient
    model: ScriptedModel
    port: int

    async def ask(self, question: str = "hello", *, headers: dict[str, str] | None = None, **body: Any) -> Streamed:
        """Ask, and read the stream to its end."""
        async with self.asking(question, headers=headers, **body) as streamed:
            await streamed.rest()
        return streamed

    @asynccontextmanager
    async def asking(
        self, question: str = "hello", *, headers: dict[str, str] | None = None, **body: Any
    ) -> AsyncIterator[Streamed]:
        """Ask; the stream is open inside."""
        content = {"question": question, **body}
        async with self.client.stream("POST", "/api/oracle/stream", json=content, headers=headers) as response:
            yield await read_stream(response)

    @asynccontextmanager
    async def resuming(
        self, run_id: str, *, after: int | None = None, headers: dict[str, str] | None = None
    ) -> AsyncIterator[Streamed]:
        """Resume a stream."""
        given = dict(headers or {}) | ({} if after is None else {"Last-Event-ID": str(after)})
        async with self.client.stream("GET", f"/api/oracle/runs/{run_id}/stream", headers=given) as response:
            yield await read_stream(response)

    async def resume(self, run_id: str, **options: Any) -> Streamed:
        """Resume a stream, and read it to its end."""
        async with self.resuming(run_id, **options) as streamed:
            await streamed.rest()
        return streamed


class FurtherTools:
    """Tools that come and go, of which there are none now."""

    def __init__(self, *, pass_headers: frozenset[str] = frozenset(), states: Iterable[Any] = ()) -> None:
        self.pass_headers = pass_headers
        self.states = lambda: states
        self.tools = self.known = self.missing = list


@asynccontextmanager
async def running_service(
    folder: Path,
    turns: Iterable[ScriptedTurn] = (),
    *,
    model: ScriptedModel | None = None,
    tokens: dict[str, str] | None = None,
    jwt_secret: str | None = None,
    timing: StreamTiming | None = None,
    options: RunOptions | None = None,
    provider_answers: bool = True,
    clock: Clock | None = None,
    requests_clock: Any = None,
    url: str | None = None,
    worker: str = "worker-1",
    body_s: float = 60.0,
    trees_folder: Path | None = None,
    explaining: dict[str, Any] | None = None,
    traces: Traces = NO_TRACES,
    console: Console | None = None,
    encoder: Encoder = NO_ENCODER,
    prices: Prices | None = None,
    hooks: Hooks | None = None,
    changing: ChangingTools | None = None,
    tools: Iterable[Tool] = (),
    adapters: tuple[Adapter, ...] = adapters_of(features()),
    timestamp: Callable[[], str] = lambda: TIMESTAMP,
    registry: Registry = REGISTRY,
    opens: Iterable[Callable[[ServiceParts], AbstractAsyncContextManager[None]]] = (),
    **settings: Any,
) -> AsyncIterator[Service]:
    """Start a service, on SQLite unless there is a `url`; the last turn is said again and again."""
    chosen = Settings(data_dir=folder, project_dir=folder, tokens=tokens or {}, jwt_secret=jwt_secret, **settings)
    model = model or ScriptedModel(_forever(turns))
    numbers = count(1)
    prefix = "id" if worker == "worker-1" else worker
    new_id = lambda: f"{prefix}-{next(numbers)}"  # noqa: E731  a name for each thing, in order
    async with AsyncExitStack() as stack:
        if url is None:
            file = folder / "oracle.db"
            url = f"sqlite:///{file}" if file.exists() else sqlite_url(file)
        store = await stack.enter_async_context(open_store(url, worker=worker))
        metrics = Metrics()
        library = TreeLibrary([trees_folder or folder, trees.FOLDER], registry=registry)
        served = shipped.Trees(library, closed=[trees_folder or folder])
        editor = TreeEditor(served, folder=trees_folder or folder, edits=store.tree_edits)
        await editor.start()
        oracle = Oracle(
            equipment=Equipment(
                model=model,
                tools=ToolRegistry([*_tools(folder), *tools]),
                segments=shipped.segments(),
                clock=clock or SystemClock(),
                timestamp=timestamp,
                encoder=encoder,
                hooks=hooks or Hooks(),
            ),
            trees=served,
            conversations=store.conversations,
            new_id=new_id,
            cap=chosen.capped,
            control=chosen.primary_control,
            traces=traces,
            changing=changing,
        )
        options = options or RunOptions(most_per_user=chosen.runs_per_user)
        runs = RunManager(oracle, store, options=options, metrics=metrics, new_id=new_id)
        if chosen.debug:
            lease_s, timer = chosen.debug_lease_s, clock or SystemClock()
            foresight = foresight_of(store, registry)
            runs.debugger = Debugger(store, registry=registry, lease_s=lease_s, clock=timer, foresight=foresight)
        await stack.enter_async_context(runs)
        passes = Passes(store, registry=lambda: registry, **(explaining or {}))
        stack.callback(passes.close)
        environment = {"ORACLE_DATA_DIR": str(folder), "ORACLE_PROJECT_DIR": str(folder)}
        parts = ServiceParts(
            oracle=oracle,
            trees=editor,
            trials=cache(lambda: Trials(served, environment=environment)),
            answers=cache(lambda: AnswerCounts(store, served)),
            results=cache(lambda: TrialResults(store.tree_trials)),
            store=store,
            runs=runs,
            passes=lambda: passes,
            settings=chosen,
            metrics=metrics,
            authenticator=authenticator(chosen),
            provider_answers=provider_answers,
            console=console,
            timing=timing or StreamTiming(),
            body_s=body_s,
            **({} if requests_clock is None else {"clock": requests_clock}),
        )
        parts.add(prices or Prices())
        metrics.costs_of = (prices or Prices()).costs
        for each in opens:
            await stack.enter_async_context(each(parts))
        port = await stack.enter_async_context(_listening(parts, adapters))
        client = await stack.enter_async_context(
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20, trust_env=False, verify=False)
        )
        yield Service(parts, client, model, port)


@asynccontextmanager
async def _listening(parts: ServiceParts, adapters: tuple[Adapter, ...]) -> AsyncIterator[int]:
    """uvicorn without its main loop, which looks ten times a second whether it is to stop."""
    app = build_app(parts, adapters=adapters)
    kind = parts.authenticator.is_required, adapters, parts.settings.features
    app.router.routes = _routes.setdefault(kind, app.router.routes)
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False, lifespan="off")
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        parts.streams.close()
        for listening in server.servers:
            listening.close()
        for connection in tuple(server.server_state.connections):
            connection.transport.abort()
        if server.server_state.tasks:
            await asyncio.wait(server.server_state.tasks)


_routes: dict[tuple[bool, tuple[Adapter, ...], tuple[str, ...]], list[BaseRoute]] = {}
"""Of each kind of service, such as one with auth: they hold nothing of it, and FastAPI takes 0.2 s to make them."""


def _tools(folder: Path) -> Iterable[Tool]:
    yield from project_tools(folder)
    yield from vault_tools(folder / "vault", now=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))


def _forever(turns: Iterable[ScriptedTurn]) -> Iterable[ScriptedTurn]:
    turn = ScriptedTurn(text="Hello.")
    for turn in turns:
        yield turn
    while True:
        yield turn


@pytest.fixture(autouse=True)
def quiet_logs():
    configure_logging("critical")
    yield
    structlog.reset_defaults()


@pytest.fixture
async def start(tmp_path):
    """Starts services; they are gone at the end of the test."""
    async with AsyncExitStack() as stack:

        async def begin(turns: Iterable[ScriptedTurn] = (), *, folder: Path | None = None, **options: Any) -> Service:
            return await stack.enter_async_context(running_service(folder or tmp_path, turns, **options))

        yield begin


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest) -> str | None:
    """For `start`: an empty database of each kind."""
    return None if request.param == "sqlite" else request.getfixturevalue("postgresql_url")


@pytest.fixture
async def service(start):
    """One without auth that says hello."""
    return await start()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory):
    """One for the tests of a file that change nothing; they run in the loop of the file (`@in_shared_loop`)."""
    configure_logging("critical")
    async with running_service(tmp_path_factory.mktemp("shared"), models=("claude-known",)) as service:
        yield service


@pytest.fixture
async def guarded(start):
    """One with users alice and bob, and the operator olga."""
    return await start(tokens=TOKENS | OPERATOR, operators=("olga",))
