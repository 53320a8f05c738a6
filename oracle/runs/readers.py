"""The readers of runs; a run is cancelled after its last one has left.

A run is cancelled if it was read and has had no reader for the grace time. A run that was never read, or was asked for
without a reader (`detached`), continues to its end.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field

import structlog

from bt_runtime import Clock
from bt_runtime.text.data import dataclass
from oracle.core.retry import pause
from oracle.runs.storage.errors import StorageError
from oracle.runs.storage.records import RunCommand, RunRecord
from oracle.runs.storage.store import Store

log = structlog.get_logger(__name__)

_JOINED, _LEFT = "reader_joined", "reader_left"


@dataclass(slots=True)
class _Audience:
    """The readers of one run, by id, and the timer that runs while there are none."""

    present: set[str] = field(default_factory=set)
    timer: "asyncio.Task[None] | None" = None

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Readers:
    """The readers of this process's runs, on whichever worker they are connected.

    Args:
        grace_s: how long a run goes on without a reader.
        clock: monotonic time.
        on_deserted: called with the id of a run whose readers have not come back.
    """

    def __init__(self, *, grace_s: float, clock: Clock, on_deserted: Callable[[str], None]) -> None:
        self._grace_s = grace_s
        self._clock = clock
        self._on_deserted = on_deserted
        self._audiences: dict[str, _Audience] = {}

    def join(self, run_id: str, reader: str) -> None:
        """A reader is connected; the timer stops."""
        audience = self._audiences.setdefault(run_id, _Audience())
        audience.present.add(reader)
        audience.stop_timer()

    def leave(self, run_id: str, reader: str) -> None:
        """A reader has left; when the last one leaves the timer starts."""
        audience = self._audiences.setdefault(run_id, _Audience())
        audience.present.discard(reader)
        if not audience.present and audience.timer is None:
            audience.timer = asyncio.create_task(self._wait(run_id), name=f"grace:{run_id}")

    def forget(self, run_id: str) -> None:
        """The run has ended."""
        audience = self._audiences.pop(run_id, None)
        if audience is not None:
            audience.stop_timer()

    def of(self, run_id: str) -> frozenset[str]:
        """The readers of a run at present."""
        audience = self._audiences.get(run_id)
        return frozenset(audience.present) if audience is not None else frozenset()

    def __len__(self) -> int:
        return len(self._audiences)

    async def _wait(self, run_id: str) -> None:
        await pause(self._grace_s, clock=self._clock)
        self._on_deserted(run_id)


class Attendance:
    """Announces readers to the worker of their run: to `Readers` if that is this process, and by a command otherwise.

    Args:
        store: sends commands.
        is_here: whether this process has that run.
        new_id: makes ids of readers.
    """

    def __init__(
        self, store: Store, *, readers: Readers, is_here: Callable[[str], bool], new_id: Callable[[], str]
    ) -> None:
        self._store = store
        self._readers = readers
        self._is_here = is_here
        self._new_id = new_id
        self.sending: set[asyncio.Task[None]] = set()
        """Commands that are being sent."""

    @contextmanager
    def attach(self, run: RunRecord) -> Iterator[None]:
        """A reader of the run is connected, as long as this is entered."""
        reader = self._new_id()
        self._announce(run, _JOINED, reader)
        try:
            yield
        finally:
            self._announce(run, _LEFT, reader)

    def take(self, command: RunCommand) -> None:
        """Take a command for a run of this process; one about something else is ignored."""
        reader = str(command.data.get("reader"))
        if command.kind == _JOINED:
            self._readers.join(command.run_id, reader)
        elif command.kind == _LEFT:
            self._readers.leave(command.run_id, reader)

    def _announce(self, run: RunRecord, kind: str, reader: str) -> None:
        if run.input.get("detached"):  # readers make no difference to it
            return
        command = RunCommand(run.id, kind, {"reader": reader})
        if self._is_here(run.id) or run.status == "queued":  # a waiting run as well, as it may be claimed here
            self.take(command)
        elif run.status == "running" and run.worker != self._store.worker:
            # In the background; the store's writer keeps the order.
            task = asyncio.create_task(self._send_now(command))
            self.sending.add(task)
            task.add_done_callback(self.sending.discard)

    async def _send_now(self, command: RunCommand) -> None:
        try:
            await self._store.commands.send(command)
        except StorageError as error:
            log.warning("command.not_sent", run_id=command.run_id, kind=command.kind, problem=str(error))
