"""The figures of several workers, as one answer: whichever is asked, it asks the others.

Each worker has a socket on loopback for that, which its parent has bound, so that all know all of them. One that does
not answer in time is left out, as if it had been down.
"""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

_PATIENCE_S: Final = 1.0
_SAMPLE: Final = re.compile(r"([A-Za-z_:][\w:]*)(?:\{(.*))?")


@asynccontextmanager
async def figures_of_all(
    number: int, listeners: Sequence[socket.socket], *, own: Callable[[], bytes]
) -> AsyncIterator[Callable[[], Awaitable[bytes]]]:
    """Answer the others while this is entered; gives the figures of all, in Prometheus' text format.

    Args:
        number: of this worker: 1, 2, 3, …
        listeners: the sockets of the workers, in the order of their numbers.
        own: the figures of this worker.
    """

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            writer.write(own())
            await writer.drain()
        writer.close()

    async def gathered() -> bytes:
        others = {at: each for at, each in enumerate(listeners, 1) if at != number}
        texts = await asyncio.gather(*(_ask(each.getsockname()) for each in others.values()))
        return merged(dict(sorted({**dict(zip(others, texts, strict=True)), number: own()}.items())))

    async with await asyncio.start_server(answer, sock=listeners[number - 1]):
        yield gathered


async def _ask(address: tuple[str, int]) -> bytes:
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(_PATIENCE_S):
            reader, writer = await asyncio.open_connection(*address)
            try:
                return await reader.read()
            finally:
                writer.close()
    return b""


def merged(texts: Mapping[int, bytes]) -> bytes:
    """Figures of workers by their numbers, each sample with the label `worker`, each family once."""
    families: dict[str, list[str]] = {}
    about = ""
    for number, text in texts.items():
        for line in text.decode().splitlines():
            if line.startswith("# HELP"):
                about = line
            elif line.startswith("# TYPE"):
                samples = families.setdefault(f"{about}\n{line}", [])
            elif found := _SAMPLE.match(line):
                name, labels = found.groups()
                rest = f"}}{line[found.end() :]}" if labels is None else f",{labels}{line[found.end() :]}"
                samples.append(f'{name}{{worker="{number}"{rest}')
    return "".join(f"{line}\n" for about, samples in families.items() for line in (about, *samples)).encode()
