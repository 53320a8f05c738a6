"""Stands between a store and its PostgreSQL server, and breaks what is between them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from sqlalchemy.engine import make_url

_COMMIT = b"COMMIT\x00"


class Proxy:
    """Forwards bytes until it is stopped."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._writers: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self.refuses = False
        """New connections are closed at once."""
        self.loses_next_commit: bool = False
        """The next COMMIT reaches the server, its answer never comes back."""
        self.lost_commits = 0

    def cut(self) -> None:
        """Break all connections."""
        for writer in tuple(self._writers):
            writer.transport.abort()

    def freeze(self) -> None:
        """Pass nothing on, and break nothing."""
        self._flowing.clear()

    def thaw(self) -> None:
        """Go on."""
        self._flowing.set()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuses:
            writer.transport.abort()
            return
        there_reader, there_writer = await asyncio.open_connection(*self._server)
        self._writers |= {writer, there_writer}
        try:
            with suppress(OSError):
                await asyncio.gather(
                    self._pass(reader, there_writer, answers=there_reader), self._pass(there_reader, writer)
                )
        finally:
            for each in (writer, there_writer):
                self._writers.discard(each)
                each.transport.abort()

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        answers: asyncio.StreamReader | None = None,
    ) -> None:
        while data := await reader.read(65_536):
            await self._flowing.wait()
            loses = answers is not None and self.loses_next_commit and _COMMIT in data
            if loses:
                self.loses_next_commit = False
                self.lost_commits += 1
                for each in self._writers - {writer}:
                    each.transport.abort()  # nothing goes back any more
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError


@asynccontextmanager
async def proxied(url: str) -> AsyncIterator[tuple[str, Proxy]]:
    """The address of a proxy before a server, and the proxy."""
    there = make_url(url)
    proxy = Proxy(there.host or "127.0.0.1", there.port or 5432)
    handlers = set[asyncio.Task[None]]()

    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handlers.add(task)
        with suppress(asyncio.CancelledError):
            await proxy.handle(reader, writer)

    server = await asyncio.start_server(accepted, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield there.set(host="127.0.0.1", port=port).render_as_string(hide_password=False), proxy
    finally:
        proxy.thaw()
        server.close()
        for handler in handlers:
            handler.cancel()
        if handlers:
            await asyncio.wait(handlers)
        await server.wait_closed()
