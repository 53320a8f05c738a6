"""A network line between the browser and the service that a test can cut, at a word if need be."""

import asyncio
from collections.abc import Callable
from typing import Self

_PIECE_BYTES = 65_536


class Line:
    """A loopback address that leads to the service; use it as an async context manager.

    The browser keeps the same address whatever happens behind it: `line.url`.

    Args:
        target: returns the address of the service, such as `http://127.0.0.1:8000`; asked for each connection.
    """

    def __init__(self, target: Callable[[], str]) -> None:
        self._target = target
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._is_cut = False
        self._cut_after = b""
        self.was_cut = asyncio.Event()
        """Set when the line is cut."""

    @property
    def url(self) -> str:
        assert self._server is not None, "use the line with `async with`"
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://{host}:{port}"

    def cut(self) -> None:
        """End all connections at once, and every new one, until `mend`."""
        self._is_cut = True
        self._cut_after = b""
        for writer in self._open.values():
            writer.transport.abort()
        self.was_cut.set()

    def cut_after(self, words: str) -> None:
        """Cut the line as soon as these words have passed to the browser, in one event of a stream."""
        self._cut_after = words.encode()
        self.was_cut.clear()

    def mend(self) -> None:
        """Let connections through again."""
        self._is_cut = False

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = writer
        try:
            if not self._is_cut:
                await self._connect(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass  # one of both sides has gone, or the test ends
        finally:
            writer.transport.abort()
            del self._open[task]

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port = self._target().removeprefix("http://").rsplit(":", 1)
        there, to_there = await asyncio.open_connection(host, int(port))
        ways = [asyncio.create_task(_copy(reader, to_there)), asyncio.create_task(self._copy_back(there, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            to_there.transport.abort()

    async def _copy_back(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Copy to the browser; up to the words after which the line is to be cut, which may come in two pieces."""
        before = b""
        while piece := await source.read(_PIECE_BYTES):
            words = self._cut_after
            seen = before + piece
            if words and (at := seen.find(words)) >= 0:
                sink.write(seen[len(before) : at + len(words)])
                await sink.drain()
                self.cut()
                return
            sink.write(piece)
            await sink.drain()
            before = seen[-len(words) :] if words else b""


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while piece := await source.read(_PIECE_BYTES):
        sink.write(piece)
        await sink.drain()
