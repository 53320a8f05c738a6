"""The store, and how it is opened."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

from sqlalchemy import Connection, text

from bt_runtime import Clock, SystemClock
from bt_runtime.text.data import dataclass
from oracle.runs.storage.breakpoints import Breakpoints
from oracle.runs.storage.claims import Presence, RunClaims
from oracle.runs.storage.client_runs import ClientRuns
from oracle.runs.storage.commands import Commands
from oracle.runs.storage.conversations import StoredConversations
from oracle.runs.storage.database import Database, read_url
from oracle.runs.storage.interrupts import InterruptTable
from oracle.runs.storage.keys import ServiceKeys
from oracle.runs.storage.log import EventLog
from oracle.runs.storage.prompts import Prompts
from oracle.runs.storage.request_keys import RequestKeys
from oracle.runs.storage.retention import Retention
from oracle.runs.storage.runs import RunTable
from oracle.runs.storage.setup import prepare
from oracle.runs.storage.tails import Tails
from oracle.runs.storage.trees import TreeEdits, TreeTrials, TreeVersions
from oracle.runs.storage.usage import UsageTable
from oracle.runs.storage.user_settings import UserSettings
from oracle.runs.storage.webhooks import Webhooks
from oracle.runs.storage.writer import PATIENCE_S, CommitFigures, StoreHealth, Writer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Store:
    """The parts of an open store; `open_store` creates it.

    Args:
        worker: the name of this worker.
        database: the connections to it.
        writer: the one thread that writes to it.
        log: the events of runs.
        runs: the rows of runs.
        claims: the owners of runs: claiming, heartbeats, and taking over.
        trees: the versions of trees that runs have used.
        prompts: the system prompts of runs.
        tree_edits: the texts of trees as they were saved or found.
        tree_trials: what the last trials of trees have found.
        request_keys: the idempotency keys of requests.
        client_runs: the runs that came through clients' protocols.
        interrupts: approvals and questions of runs, with their decisions.
        retention: deletes old texts.
        webhooks: the messages that are not delivered yet.
        keys: secrets that all workers share.
        usage: tokens of ended runs and auxiliary requests by user, day, and model.
    """

    worker: str
    database: Database
    writer: Writer
    log: EventLog
    runs: RunTable
    claims: RunClaims
    conversations: StoredConversations
    settings: UserSettings
    trees: TreeVersions
    prompts: Prompts
    tree_edits: TreeEdits
    tree_trials: TreeTrials
    breakpoints: Breakpoints
    request_keys: RequestKeys
    client_runs: ClientRuns
    commands: Commands
    interrupts: InterruptTable
    retention: Retention
    webhooks: Webhooks
    keys: ServiceKeys
    usage: UsageTable

    @property
    def is_shared(self) -> bool:
        """Whether other workers may use it as well."""
        return self.database.dialect.is_shared

    @property
    def health(self) -> StoreHealth:
        """Whether it can be written."""
        return self.writer.health

    async def ping(self) -> None:
        """Check that it can be read.

        Raises:
            StoreUnavailableError: it cannot be read at present.
        """
        await self.database.read(lambda connection: connection.execute(text("SELECT 1")).scalar_one())

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run a small transaction in the writer's thread, after everything appended so far.

        Raises:
            StoreUnavailableError: it could not be written for longer than the patience, and will not be.
            Exception: what the work raises; it is rolled back then.
        """
        return await self.writer.write(work)


@asynccontextmanager
async def open_store(
    url: str,
    *,
    worker: str,
    observe: Callable[[CommitFigures], None] | None = None,
    clock: Clock | None = None,
    now: Callable[[], float] = time.time,
    patience_s: float = PATIENCE_S,
    webhook_urls: Sequence[str] = (),
) -> AsyncIterator[Store]:
    """Open the store: on SQLite for this process only, on PostgreSQL for any number of them.

    Args:
        url: `sqlite:////path/oracle.db` or `postgresql://…`.
        worker: the name of this process among the others.
        observe: called after every commit.
        clock: monotonic time.
        now: seconds since the epoch.
        patience_s: how long a caller waits for a write while nothing can be written.
        webhook_urls: the addresses that get messages about runs.

    Raises:
        StoreSetupError: it cannot be opened as configured; the message says what to do.
    """
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        database = Database(read_url(url), now=now)
        stack.callback(database.close)
        lock = await asyncio.get_running_loop().run_in_executor(None, prepare, database)
        stack.callback(lock)
        tails = Tails()
        stack.callback(tails.close)
        writer = Writer(database, worker=worker, observe=observe, patience_s=patience_s)
        stack.push_async_callback(writer.aclose)
        commands = Commands(database, writer=writer, worker=worker, clock=clock, now=now)
        stack.push_async_callback(commands.aclose)
        claims = RunClaims(database, writer=writer, worker=worker, presence=Presence(clock), now=now)
        if database.dialect.is_shared:
            from oracle.runs.storage.listener import Listener  # noqa: PLC0415  imports PostgreSQL's driver

            listener = Listener(database.url, tails=tails, commands=commands, claims=claims, worker=worker, clock=clock)
            stack.push_async_callback(listener.aclose)
        webhooks = Webhooks(database, writer=writer, urls=webhook_urls)
        yield Store(
            worker=worker,
            database=database,
            writer=writer,
            log=EventLog(
                database,
                writer=writer,
                tails=tails,
                clock=clock,
                now=now,
                patience_s=patience_s,
                observer=webhooks,
            ),
            runs=RunTable(database, writer=writer, worker=worker, tails=tails, on_queued=claims.look, now=now),
            claims=claims,
            conversations=StoredConversations(database, writer=writer, clock=clock, worker=worker),
            settings=UserSettings(database, writer=writer),
            trees=TreeVersions(database, writer=writer),
            prompts=Prompts(database, writer=writer),
            tree_edits=TreeEdits(database, writer=writer),
            tree_trials=TreeTrials(database, writer=writer),
            breakpoints=Breakpoints(database, writer=writer),
            request_keys=RequestKeys(database, writer=writer),
            client_runs=ClientRuns(database, writer=writer),
            commands=commands,
            interrupts=InterruptTable(
                database, writer=writer, commands=commands, on_woken=claims.look, webhooks=webhooks
            ),
            retention=Retention(database, writer=writer, tails=tails),
            webhooks=webhooks,
            keys=ServiceKeys(database, writer=writer),
            usage=UsageTable(database, writer=writer),
        )
