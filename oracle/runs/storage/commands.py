"""Commands to the worker that has a run, possibly sent by another worker: a row, deleted when it is read."""

import asyncio
import time
from collections.abc import Callable
from functools import partial

import structlog
from sqlalchemy import Connection, Double, and_, delete, insert, literal, select

from bt_runtime import Clock
from oracle.core.retry import Retry
from oracle.runs.storage import schema
from oracle.runs.storage.database import Database, may_be_id
from oracle.runs.storage.errors import StorageError
from oracle.runs.storage.parts import Keeping, rows_of_runs
from oracle.runs.storage.records import RunCommand
from oracle.runs.storage.writer import Writer

log = structlog.get_logger(__name__)

COMMANDS_CHANNEL = "oracle_commands"

_RETRY = Retry(first_s=1.0, longest_s=1.0)

_command, _run = schema.command, schema.run


def _delete_unreadable(connection: Connection, _at: float) -> None:
    is_open = select(_run.c.id).where(_run.c.id == _command.c.run_id, _run.c.status != "finished").exists()
    connection.execute(delete(_command).where(~is_open))


KEEPING = Keeping(tables=(_command,), with_runs=rows_of_runs(_command, but="reduced"), tidy=_delete_unreadable)


class Commands:
    """The commands of all workers.

    Args:
        worker: the name of this worker.
        clock: monotonic time.
        now: seconds since the epoch.
    """

    def __init__(
        self,
        database: Database,
        *,
        writer: Writer,
        worker: str,
        clock: Clock,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._writer = writer
        self._worker = worker
        self._clock = clock
        self._now = now
        self._on_command: Callable[[RunCommand], None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._look_again = False

    async def send(self, command: RunCommand) -> bool:
        """Send a command to the worker of a run; returns whether it has one: it may have ended, or wait.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        if not may_be_id(command.run_id):
            return False
        row = {"run_id": command.run_id, "kind": command.kind, "data": command.data, "at": self._now()}

        def work(connection: Connection) -> str | None:
            query = select(_run.c.worker).where((_run.c.id == command.run_id) & (_run.c.status == "running"))
            worker: str | None = connection.execute(query).scalar()
            if worker is not None:
                connection.execute(insert(_command), row)
                self._database.dialect.notify(connection, COMMANDS_CHANNEL, [worker])
            return worker

        worker = await self._writer.write(work)
        if worker == self._worker:
            self.look()
        return worker is not None

    async def send_to_all(
        self, kind: str, *, tree: str | None = None, run_id: str | None = None, user_id: str | None = None
    ) -> None:
        """Send a command without data to the workers of all running queries, or of some.

        Args:
            kind: what the workers are to do.
            tree: only to the runs of this tree.
            run_id: only to this run.
            user_id: only to the runs of this user.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience.
        """
        wanted = {_run.c.tree: tree, _run.c.id: run_id, _run.c.user_id: user_id}
        meant = and_(_run.c.status == "running", *(column == value for column, value in wanted.items() if value))
        rows = select(_run.c.id, literal(kind), literal({}, schema.Json), literal(self._now(), Double)).where(meant)

        def work(connection: Connection) -> list[str]:
            workers = [row.worker for row in connection.execute(select(_run.c.worker).where(meant).distinct())]
            if workers:
                connection.execute(insert(_command).from_select(["run_id", "kind", "data", "at"], rows))
                self._database.dialect.notify(connection, COMMANDS_CHANNEL, workers)
            return workers

        if self._worker in await self._writer.write(work):
            self.look()

    def subscribe(self, on_command: Callable[[RunCommand], None]) -> None:
        """Have a function called with each command for a run of this worker, in the event loop."""
        self._on_command = on_command
        self.look()

    def look(self) -> None:
        """Look for commands to this worker, in the background."""
        if self._on_command is None:
            return
        if self._looking is not None and not self._looking.done():
            self._look_again = True
            return
        self._looking = asyncio.get_running_loop().create_task(self._look(), name="store-commands")

    async def aclose(self) -> None:
        """Stop looking."""
        self._on_command = None
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})

    async def _look(self) -> None:
        while True:
            self._look_again = False
            # Retried, as the notification of these commands does not come again.
            take = partial(self._writer.write, self._take)
            commands = await _RETRY.call(take, clock=self._clock, when=StorageError, on_failure=_log_failure)
            for command in commands:
                if self._on_command is not None:
                    self._on_command(command)
            if not self._look_again:
                return

    def _take(self, connection: Connection) -> list[RunCommand]:
        mine = select(_run.c.id).where((_run.c.worker == self._worker) & (_run.c.status == "running"))
        query = select(_command).where(_command.c.run_id.in_(mine)).order_by(_command.c.id)
        rows = connection.execute(query).all()
        if rows:
            connection.execute(delete(_command).where(_command.c.id.in_([row.id for row in rows])))
        return [RunCommand(row.run_id, row.kind, row.data) for row in rows]


def _log_failure(error: Exception) -> None:
    log.warning("commands.not_read", problem=str(error))
