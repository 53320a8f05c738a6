"""Sends the messages of the outbox: signed, at least once, to hosts that the operator allows.

Rules:

- Signatures and headers follow Standard Webhooks 1.0 (github.com/standard-webhooks/standard-webhooks).
- A receiver has a message when it answers with a status from 200 to 299. Anything else is tried again after twice as
  long, up to an hour, and given up after a day.
- The host is looked up for each attempt. All of its addresses must be public ones, unless the operator has named the
  host as a private one, and the connection is made to an address that was checked: another answer of the name server a
  moment later changes nothing. A redirect is not followed, no proxy is used, and of a response only the status is read.
- Each address has its own task: one that hangs delays no other.
"""

import asyncio
import base64
import hashlib
import hmac
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import field
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Self
from urllib.parse import urlsplit

import httpx2
import structlog

from bt_runtime import Clock, SystemClock
from bt_runtime.text.data import dataclass
from oracle.core.errors import OperatorError
from oracle.core.metrics import Metrics
from oracle.core.retry import Retry
from oracle.runs.storage.webhooks import Message, Webhooks
from oracle.server.api.parts import ServiceParts
from oracle.server.settings.fields import Settings, split_address

log = structlog.get_logger(__name__)

GIVE_UP_S: Final = 86_400.0
_MIN_KEY_BYTES: Final = 24  # Standard Webhooks
AGAIN: Final = Retry(first_s=5.0, longest_s=3_600.0)
_AT_ONCE = 8  # of one address
_LOOK_S = 5.0  # for messages of other workers, and those to be tried again
LIMIT_S: Final = 10.0
_CONNECT_S = 3.0  # so that there is time for the host's other addresses
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an IPv4 address
# By IANA's registries of special addresses; Python 3.11 takes them for global.
_SPECIAL = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "64:ff9b:1::/48", "3fff::/20", "5f00::/16")))
_SUCCESS = range(200, 300)

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class RefusedReceiverError(OperatorError):
    """Nothing may be sent to this host."""


def signed(message: Message, *, key: bytes, at: float) -> dict[str, str]:
    """The headers of an attempt at this time, in seconds since the epoch."""
    timestamp = str(int(at))
    digest = hmac.new(key, b"%b.%b.%b" % (message.id.encode(), timestamp.encode(), message.body), hashlib.sha256)
    return {
        "webhook-id": message.id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(digest.digest()).decode()}",
        "content-type": "application/json",
        "user-agent": "oracle-webhooks",
    }


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is one of the internet; one that holds an IPv4 address is what that is."""
    if isinstance(address, IPv6Address):
        inner = IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else address.sixtofour
        if inner is not None or address.is_site_local:
            return inner is not None and is_public(inner)
    is_special = address.is_multicast or address.is_reserved or any(address in each for each in _SPECIAL)
    return address.is_global and not is_special


async def look_up(host: str, port: int) -> Sequence[str]:
    """The addresses of a host.

    Raises:
        OSError: it has none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


@dataclass(kw_only=True, slots=True)
class WebhookSender:
    """Sends in the background while it is entered.

    Args:
        outbox: the table of messages that are not delivered yet.
        key: the secret of the signatures.
        hosts: names that may receive messages if all of their addresses are public.
        private_hosts: names that may receive messages at any address.
        clock: monotonic time.
        now: seconds since the epoch.
        resolve: looks a host up.
        limit_s: how long an attempt may take.
        trusted: what certificates are checked against; `True`: the authorities that are known.
    """

    outbox: Webhooks
    key: bytes
    hosts: Collection[str]
    private_hosts: Collection[str] = ()
    metrics: Metrics
    clock: Clock
    now: Callable[[], float] = time.time
    resolve: Resolve = look_up
    limit_s: float = LIMIT_S
    trusted: ssl.SSLContext | bool = True
    _client: httpx2.AsyncClient = field(init=False)
    _tasks: list[asyncio.Task[None]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._client = httpx2.AsyncClient(
            verify=self.trusted,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx2.Timeout(self.limit_s, connect=min(self.limit_s, _CONNECT_S)),
            limits=httpx2.Limits(max_keepalive_connections=0),
        )

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._serve(url), name="webhooks") for url in self.outbox.urls]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.aclose()

    async def send_due(self, url: str) -> int:
        """Send the messages for an address that are due, a few at most; returns how many.

        Raises:
            StoreUnavailableError: the database cannot be read or written at present.
        """
        claimed = await self.outbox.claim(url, most=_AT_ONCE)
        await asyncio.gather(*map(self._send, claimed))
        return len(claimed)

    async def _serve(self, url: str) -> None:
        while True:
            news, sent = self.outbox.news, 0  # before the outbox is read, so that no message is missed
            try:
                sent = await self.send_due(url)
            except Exception as error:  # noqa: BLE001  sending goes on after any failure of one round
                log.warning("upkeep.failed", work="webhooks", problem=f"{type(error).__name__}: {error}")
            if sent < _AT_ONCE:
                await self.clock.wait(news, until_s=self.clock.now() + _LOOK_S)

    async def _send(self, message: Message) -> None:
        host, problem = urlsplit(message.url).hostname or "", ""
        try:
            async with asyncio.timeout(self.limit_s):
                status = await self._post(message, host)
            if status not in _SUCCESS:
                problem = f"it answered with status {status}"
        except TimeoutError:
            problem = f"it did not answer within {self.limit_s:g} s"
        except (RefusedReceiverError, httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            problem = f"{type(error).__name__}: {error}"
        if not problem:
            await self.outbox.delivered(message)
            self.metrics.webhook("delivered")
            return
        again_s = AGAIN.wait_s(message.tries)
        is_last = message.age_s + again_s > GIVE_UP_S
        outcome = "given_up" if is_last else "failed"
        say = log.error if is_last else log.warning
        say(f"webhook.{outcome}", id=message.id, host=host, tries=message.tries, problem=problem)
        await self.outbox.failed(message, problem=problem, again_s=None if is_last else again_s)
        self.metrics.webhook(outcome)

    async def _post(self, message: Message, host: str) -> int:
        """Send to the first address of the host that can be reached; returns the status of the response."""
        url = httpx2.URL(message.url)
        headers = signed(message, key=self.key, at=self.now()) | {"host": url.netloc.decode()}
        unreachable: Exception = OSError(f"the host {host!r} has no address")
        for address in await self._addresses(host, url.port or (443 if url.scheme == "https" else 80)):
            try:
                async with self._client.stream(
                    "POST",
                    url.copy_with(host=address),
                    content=message.body,
                    headers=headers,
                    extensions={"sni_hostname": host},
                ) as response:
                    return response.status_code
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                unreachable = error
        raise unreachable

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        """Where the host may be reached.

        Raises:
            RefusedReceiverError: nothing may be sent to it.
        """
        if host not in {*self.hosts, *self.private_hosts}:
            raise RefusedReceiverError("the host is not one of ORACLE_WEBHOOK_HOSTS")
        found = await self.resolve(host, port)
        wrong = [address for address in found if not is_public(ip_address(address))]
        if wrong and host not in self.private_hosts:
            raise RefusedReceiverError(f"the host has the address {wrong[0]}, which is not a public one")
        return found


def mistakes(settings: Settings) -> Iterator[str]:
    """What is wrong with settings that ask for webhooks; an address is not quoted: its path may be a secret."""
    if len(_key(settings)) < _MIN_KEY_BYTES:
        yield (
            f"ORACLE_WEBHOOK_SECRET must be 'whsec_' and base64 of {_MIN_KEY_BYTES} random bytes or more with "
            'ORACLE_WEBHOOK_URLS (make one with: echo "whsec_$(openssl rand -base64 32)")'
        )
    for url in settings["webhook_urls"]:
        parts = split_address(url)
        host = parts.hostname or ""
        is_private = host in settings["webhook_private_hosts"]
        if parts.scheme != "https" and not (is_private and parts.scheme == "http"):
            yield "ORACLE_WEBHOOK_URLS must be https addresses, like 'https://hooks.example.com/oracle'"
        elif not is_private and host not in settings["webhook_hosts"]:
            yield f"ORACLE_WEBHOOK_HOSTS must name {host!r}, to which webhooks are to be sent"


def _key(settings: Settings) -> bytes:
    """What signs webhooks; empty if there is none, or it is not base64."""
    secret = settings["webhook_secret"]
    try:
        text = "" if secret is None else secret.get_secret_value().strip()
        return base64.b64decode(text.removeprefix("whsec_"), validate=True)
    except ValueError:
        return b""


@asynccontextmanager
async def open_webhooks(parts: ServiceParts) -> AsyncIterator[None]:
    """Send the messages of a service's outbox."""
    settings = parts.settings
    async with WebhookSender(
        outbox=parts.store.webhooks,
        key=_key(settings),
        hosts=settings["webhook_hosts"],
        private_hosts=settings["webhook_private_hosts"],
        metrics=parts.metrics,
        clock=SystemClock(),
    ):
        yield
