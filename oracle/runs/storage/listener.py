"""Notifications of the other workers on PostgreSQL: runs that have new events, and commands."""

import asyncio
from typing import Any

import psycopg
import structlog
from sqlalchemy.engine import URL

from bt_runtime import Clock
from oracle.core.retry import Retry, pause
from oracle.runs.storage.commands import COMMANDS_CHANNEL, Commands
from oracle.runs.storage.commit import CHUNKS_CHANNEL
from oracle.runs.storage.database import in_words
from oracle.runs.storage.dialect import CONNECT_S
from oracle.runs.storage.postgresql import KEEPALIVE
from oracle.runs.storage.tails import Tails

log = structlog.get_logger(__name__)

_RETRY = Retry(first_s=0.1, longest_s=5.0)
_CANCEL_AGAIN_S = 0.1


class Listener:
    """One connection that listens; it is made again when it breaks.

    Notifications that came while there was none are made up for: after each connect everything is looked up once.

    Args:
        tails: whose followers are woken.
        worker: the name of this worker.
        clock: monotonic time.
    """

    def __init__(self, url: URL, *, tails: Tails, commands: Commands, worker: str, clock: Clock) -> None:
        self._address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._tails = tails
        self._commands = commands
        self._worker = worker
        self._clock = clock
        self._task = asyncio.get_running_loop().create_task(self._run(), name="store-listener")

    async def aclose(self) -> None:
        """Stop listening.

        Cancels until the task has ended: older releases of psycopg wait with `asyncio.wait_for`, which on Python 3.11
        loses a cancellation that comes together with a notification (python/cpython#86296, psycopg/psycopg#1413).
        """
        while not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_CANCEL_AGAIN_S)

    async def _run(self) -> None:
        failures = 0
        while True:
            try:
                async with await self._connect() as connection:
                    for channel in (CHUNKS_CHANNEL, COMMANDS_CHANNEL):
                        await connection.execute(f"LISTEN {channel}".encode())
                    if failures:
                        log.info("store.listens_again")
                    failures = 0
                    self._look_everywhere()
                    async for notice in connection.notifies():
                        self._take(notice.channel, notice.payload)
            except (psycopg.Error, OSError) as error:
                if not failures:
                    log.warning("store.listener_lost", problem=in_words(error))
            failures += 1
            await pause(_RETRY.wait_s(failures), clock=self._clock)

    async def _connect(self) -> psycopg.AsyncConnection[Any]:
        return await psycopg.AsyncConnection.connect(
            self._address, autocommit=True, connect_timeout=CONNECT_S, application_name="oracle-listener", **KEEPALIVE
        )

    def _look_everywhere(self) -> None:
        for tail in self._tails:
            tail.wake()
        self._commands.look()

    def _take(self, channel: str, payload: str) -> None:
        if channel == COMMANDS_CHANNEL:
            if payload == self._worker:
                self._commands.look()
            return
        for note in payload.split(","):
            run_id, _, last_chunk = note.rpartition(":")
            tail = self._tails.get(run_id)
            if tail is None or tail.is_written_here:
                continue
            if last_chunk == "0":
                tail.committed()
            else:
                tail.wake()
