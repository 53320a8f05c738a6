"""A TCP proxy whose cable can be pulled: cut (connections are reset) or stalled (nothing comes through)."""

import asyncio
import contextlib
from typing import Self


class Proxy:
    """Between a client and a server. Use it as an async context manager.

    Args:
        host: the server's.
        port: the server's.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._is_cut = False
        self.was_refused = asyncio.Event()
        """A connection was reset at once; cleared by `mend`."""
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def cut(self) -> None:
        """Reset all connections, and every new one."""
        self._is_cut = True
        for writer in tuple(self._writers):
            writer.transport.abort()

    def stall(self) -> None:
        """Let nothing through any more, and keep the connections."""
        self._flowing.clear()

    def lead_to(self, host: str, port: int) -> None:
        """Another server for the connections that come from now on."""
        self._target = host, port

    def mend(self) -> None:
        """Let everything through again."""
        self._is_cut = False
        self.was_refused.clear()
        self._flowing.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            if self._is_cut:
                self.was_refused.set()
            else:
                await self._connect(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            self._writers.discard(writer)
            writer.transport.abort()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(*self._target)
        self._writers.add(far_writer)
        both = [asyncio.create_task(self._pump(*ends)) for ends in ((reader, far_writer), (far_reader, writer))]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            self._writers.discard(far_writer)
            far_writer.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                await self._flowing.wait()
                data = await reader.read(65536)
                if not data:
                    return
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
