"""Hears from the other workers on PostgreSQL: which runs have new chunks, and that there are commands."""

import asyncio

import psycopg
import structlog
from sqlalchemy.engine import URL

from oracle.storage.commands import COMMANDS_CHANNEL, Commands
from oracle.storage.database import in_words
from oracle.storage.tails import Tails
from oracle.storage.writer import CHUNKS_CHANNEL

log = structlog.get_logger(__name__)

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.1, 5.0


class Listener:
    """One connection that listens; made again when it breaks.

    What was said while there was none is not lost: after each connect everybody looks again.

    Args:
        url: of the database.
        tails: whose followers are woken.
        commands: looked at when there are some.
        worker: the name of this one.
    """

    def __init__(self, url: URL, *, tails: Tails, commands: Commands, worker: str) -> None:
        self._address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._tails = tails
        self._commands = commands
        self._worker = worker
        self._task = asyncio.get_running_loop().create_task(self._run(), name="store-listener")

    async def aclose(self) -> None:
        """Stop listening."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        wait_s = _FIRST_WAIT_S
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self._address, autocommit=True, connect_timeout=5, application_name="oracle-listener"
                ) as connection:
                    for channel in (CHUNKS_CHANNEL, COMMANDS_CHANNEL):
                        await connection.execute(f"LISTEN {channel}".encode())
                    wait_s = _FIRST_WAIT_S
                    self._look_everywhere()
                    async for notice in connection.notifies():
                        self._hear(notice.channel, notice.payload)
            except psycopg.Error as error:
                log.warning("store.listener_lost", problem=in_words(error))
            await asyncio.sleep(wait_s)
            wait_s = min(wait_s * 2, _LONGEST_WAIT_S)

    def _look_everywhere(self) -> None:
        for tail in self._tails:
            tail.wake()
        self._commands.look()

    def _hear(self, channel: str, payload: str) -> None:
        if channel == COMMANDS_CHANNEL:
            if payload == self._worker:
                self._commands.look()
            return
        for note in payload.split(","):
            tail = self._tails.get(note.rpartition(":")[0])
            if tail is not None and not tail.is_written_here:
                tail.wake()
