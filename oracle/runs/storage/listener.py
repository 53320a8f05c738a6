"""Notifications of the other workers on PostgreSQL: runs that have new events, commands, and runs that wait.

The connection also holds the lock that shows that this worker lives. It is free as soon as the process has died.
"""

import asyncio
from typing import Any

import psycopg
import structlog
from sqlalchemy.engine import URL

from bt_runtime import Clock
from oracle.core.retry import Retry, pause
from oracle.runs.storage.claims import QUEUE_CHANNEL, RunClaims, worker_lock
from oracle.runs.storage.commands import COMMANDS_CHANNEL, Commands
from oracle.runs.storage.commit import CHUNKS_CHANNEL
from oracle.runs.storage.database import in_words
from oracle.runs.storage.dialect import CONNECT_S
from oracle.runs.storage.postgresql import HOLD_LOCK, KEEPALIVE, OWN_PID, is_own_session
from oracle.runs.storage.tails import Tails

log = structlog.get_logger(__name__)

_RETRY = Retry(first_s=0.1, longest_s=5.0)
_CANCEL_AGAIN_S = 0.1
_HOLD_TRIES, _HOLD_AGAIN_S = 5, 0.02  # another worker that tests the lock holds it for a moment
_LOOK_AGAIN_S = 1.0

_WITHOUT_SESSIONS = (
    "between this worker and the database is a pooler, which may give each transaction another connection: that a "
    "worker has died is known by its heartbeat alone, after seconds, and what other workers write is read once a "
    "second, because no notifications come; connect directly"
)


class Listener:
    """One connection that listens; it is made again when it breaks.

    Notifications that were missed without a connection do no harm: after each connect everything is looked up once.

    Args:
        tails: whose followers are woken.
        claims: looks for runs that wait when notified, and learns whether this worker holds its lock.
        worker: the name of this worker.
        clock: monotonic time.
    """

    def __init__(
        self, url: URL, *, tails: Tails, commands: Commands, claims: RunClaims, worker: str, clock: Clock
    ) -> None:
        self._address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._tails = tails
        self._commands = commands
        self._claims = claims
        self._worker = worker
        self._clock = clock
        self._is_first = True
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
                    found = await (await connection.execute(OWN_PID.encode())).fetchone()
                    has_session = is_own_session(connection, found)
                    if has_session:
                        for channel in (CHUNKS_CHANNEL, COMMANDS_CHANNEL, QUEUE_CHANNEL):
                            await connection.execute(f"LISTEN {channel}".encode())
                        await self._hold_lock(connection)
                    elif self._is_first:
                        log.warning("store.without_sessions", hint=_WITHOUT_SESSIONS)
                    self._is_first = False
                    if failures:
                        log.info("store.listens_again")
                    failures = 0
                    self._look_everywhere()
                    if not has_session:
                        await pause(_LOOK_AGAIN_S, clock=self._clock)
                        continue
                    async for notice in connection.notifies():
                        self._take(notice.channel, notice.payload)
            except (psycopg.Error, OSError) as error:
                if not failures:
                    log.warning("store.listener_lost", problem=in_words(error))
            finally:
                self._claims.presence.lost()
            failures += 1
            await pause(_RETRY.wait_s(failures), clock=self._clock)

    async def _connect(self) -> psycopg.AsyncConnection[Any]:
        return await psycopg.AsyncConnection.connect(
            self._address, autocommit=True, connect_timeout=CONNECT_S, application_name="oracle-listener", **KEEPALIVE
        )

    async def _hold_lock(self, connection: psycopg.AsyncConnection[Any]) -> None:
        for _ in range(_HOLD_TRIES):
            held = await (await connection.execute(HOLD_LOCK.encode(), (worker_lock(self._worker),))).fetchone()
            if held is not None and held[0]:
                self._claims.presence.gained()
                return
            await pause(_HOLD_AGAIN_S, clock=self._clock)

    def _look_everywhere(self) -> None:
        for tail in self._tails:
            tail.wake()
        self._commands.look()
        self._claims.look()

    def _take(self, channel: str, payload: str) -> None:
        if channel == COMMANDS_CHANNEL:
            if payload == self._worker:
                self._commands.look()
            return
        if channel == QUEUE_CHANNEL:
            self._claims.look()
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
