"""Addresses that a service listens on."""

import errno
import ipaddress
import socket
from typing import Final

from oracle.core.errors import OperatorError

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
