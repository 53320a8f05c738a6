"""The HTTP server of the process: uvicorn on addresses of ours, with signals that drain before they stop.

Rules:

- The first SIGTERM or Ctrl-C begins the drain; until it is over the socket goes on answering, so that clients see their
  runs end and new queries are refused with a status, not with a closed door.
- The second one ends the process at once. Nothing that a client saw is lost by that: the next start ends from the log
  what was under way.
- After a drain the process exits with 0: it was asked to stop, and did.
"""

import asyncio
import errno
import ipaddress
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Final

import structlog
import uvicorn
from starlette.types import ASGIApp

from oracle.core.errors import OperatorError
from oracle.server.process.protocol import BoundedProtocol

log = structlog.get_logger(__name__)


LOCALHOST: Final = "localhost"

_REASONS = {
    errno.EADDRINUSE: "the port is in use; stop what listens there, or choose another with --port (0 picks a free one)",
    errno.EACCES: "this user may not listen there; choose a --port above 1023",
    errno.EADDRNOTAVAIL: "this machine has no such address; choose another --host",
}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a service that listens on this host."""
    if host.casefold() == LOCALHOST:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:  # a name, which may come to mean anything
        return False


def bind(host: str, port: int) -> socket.socket:
    """A socket that is bound to the port and does not listen yet.

    Args:
        host: an address or a name of this machine.
        port: 0 picks a free one.

    Raises:
        OperatorError: it cannot be bound.
    """
    where = f"cannot listen on {address(host, port)}"
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise OperatorError(f"{where}: there is no host {host!r}; choose another --host") from None
    found.sort(key=lambda each: each[0] != socket.AF_INET)  # of `localhost`, what most clients try
    family, kind, protocol, _, target = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(target)
        listener.setblocking(False)  # noqa: FBT003  the standard library's
    except OSError as error:
        listener.close()
        raise OperatorError(f"{where}: {_REASONS.get(error.errno or 0, error.strerror)}") from None
    return listener


def address(host: str, port: int) -> str:
    """How a browser writes it."""
    return f"http://[{host}]:{port}" if ":" in host and not host.startswith("[") else f"http://{host}:{port}"


SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_LAST_ANSWERS_S = 3  # for answers on their way when the drain is over
_KEEP_ALIVE_S = 75  # longer than a reverse proxy keeps a connection that it would use again (nginx: 60 s)


class DrainingServer(uvicorn.Server):
    """Serves an app until a signal comes.

    Args:
        app: the ASGI application that answers requests.
        drain: ends what is under way; the server goes on answering while it lasts.
        on_listening: called when the first request could be answered.
        signals: those that drain; none where other code calls `begin_drain`.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        drain: Callable[[], Awaitable[None]],
        on_listening: Callable[[], None],
        signals: Sequence[signal.Signals] = SIGNALS,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=BoundedProtocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # nothing here asks who the client's machine is
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=_LAST_ANSWERS_S,
            )
        )
        self._drain = drain
        self._on_listening = on_listening
        self._signals = signals
        self._draining: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets=sockets)
        self._on_listening()

    def begin_drain(self, number: int = signal.SIGTERM) -> None:
        """End what is under way, then stop; what a first signal does."""
        if self._draining is None:
            log.info("service.stopping", signal=signal.Signals(number).name)
            self._draining = asyncio.get_running_loop().create_task(self._drain_and_stop(), name="drain")

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the signals while serving, except for those that the parent process has set to be ignored."""
        loop = asyncio.get_running_loop()
        before = {number: signal.getsignal(number) for number in self._signals}
        mine = [number for number in self._signals if before[number] is not signal.SIG_IGN]
        for number in mine:
            loop.add_signal_handler(number, self._on_first_signal, number, mine)
        try:
            yield
        finally:
            for number in mine:
                loop.remove_signal_handler(number)
                signal.signal(number, before[number])

    def _on_first_signal(self, number: int, handled: Sequence[signal.Signals]) -> None:
        loop = asyncio.get_running_loop()
        for each in handled:
            loop.remove_signal_handler(each)
            # Not the system's own action: as the first process of a container we would be spared by it.
            signal.signal(each, _exit_at_once)
        self.begin_drain(number)

    async def _drain_and_stop(self) -> None:
        try:
            await self._drain()
        finally:
            self.should_exit = True


def _exit_at_once(number: int, frame: FrameType | None) -> None:
    del frame
    os._exit(128 + number)
