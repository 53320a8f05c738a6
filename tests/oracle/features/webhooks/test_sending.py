"""Webhooks as a receiver gets them: signed, again until it has them, and only where they may go."""

import asyncio
import base64
import hashlib
import hmac
import json
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from bt_runtime import SystemClock
from bt_runtime.testing import FakeClock
from oracle.core.metrics import Metrics
from oracle.features.webhooks.sending import AGAIN, GIVE_UP_S, WebhookSender, is_public
from oracle.runs.storage.store import Store, open_store
from oracle.runs.storage.webhooks import webhook
from tests.oracle.runs.storage.making import DONE, END, begun
from tests.support.stores import sqlite_url
from tests.support.waiting import until

KEY = b"k" * 24
AT = 1_800_000_000.5
OK = b"HTTP/1.1 204 No Content\r\n\r\n"
_table = webhook


@dataclass(slots=True)
class Receiver:
    """A server that answers each request with the next of some answers, and the last one again and again."""

    port: int = 0
    answers: list[bytes | None] = field(default_factory=lambda: [OK])
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        self.requests.append((headers, await reader.readexactly(int(headers["content-length"]))))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is None:
            await reader.read()  # hangs until the sender gives up
        else:
            writer.write(answer)
        writer.close()


@asynccontextmanager
async def receiving(*answers: bytes | None, tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    receiver = Receiver(answers=list(answers) or [OK])
    server = await asyncio.start_server(receiver.handle, "127.0.0.1", 0, ssl=tls)
    async with server:
        receiver.port = server.sockets[0].getsockname()[1]
        yield receiver


@dataclass(slots=True)
class Sending:
    """A store with the end of one run in its outbox, and who sends it."""

    store: Store
    sender: WebhookSender
    metrics: Metrics
    url: str

    async def send(self, times: int = 1) -> None:
        """Send what is due; what failed is due again at once."""
        for _ in range(times):
            await self.sender.send_due(self.url)
            change = update(_table).values(due_at=0)
            await self.store.write(lambda connection, change=change: connection.execute(change))  # type: ignore[misc]

    async def left(self) -> list[Any]:
        return await self.store.database.read(lambda connection: list(connection.execute(select(_table))))

    def count(self, outcome: str) -> float:
        return self.metrics.registry.get_sample_value("oracle_webhooks_total", {"outcome": outcome}) or 0


Open = Callable[..., Any]


@pytest.fixture
async def sending(tmp_path: Path) -> AsyncIterator[Open]:
    numbers = count()
    async with AsyncExitStack() as stack:

        async def begin(url: str, **options: Any) -> Sending:
            address = sqlite_url(tmp_path / f"{next(numbers)}" / "oracle.db")
            store = await stack.enter_async_context(open_store(address, worker="w", webhook_urls=[url]))
            metrics = Metrics()
            given: dict[str, Any] = {"private_hosts": ["localhost", "127.0.0.1"], "hosts": [], "clock": FakeClock()}
            sender = WebhookSender(
                outbox=store.webhooks, key=KEY, metrics=metrics, now=lambda: AT, **{**given, "limit_s": 5.0, **options}
            )
            stack.push_async_callback(sender.__aexit__)
            await (await begun(store)).finish(DONE, END)
            return Sending(store, sender, metrics, url)

        yield begin


async def test_a_message_is_signed_and_is_gone_when_the_receiver_has_it(sending: Open) -> None:
    async with receiving() as receiver:
        it = await sending(f"http://localhost:{receiver.port}/in?from=oracle")
        await it.send(2)
    [(headers, body)] = receiver.requests
    assert headers["host"] == f"localhost:{receiver.port}"
    assert headers["webhook-timestamp"] == "1800000000"
    assert headers["content-type"] == "application/json"
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    signature = base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256)).decode()
    assert headers["webhook-signature"] == f"v1,{signature}"
    assert json.loads(body)["data"]["run_id"] == "run-1"
    assert await it.left() == []
    assert it.count("delivered") == 1


async def test_a_receiver_that_answers_500_gets_the_same_message_again_until_it_has_it(sending: Open) -> None:
    async with receiving(
        b"HTTP/1.1 500 Oops\r\ncontent-length: 3\r\n\r\nno!", b"HTTP/1.1 500 Oops\r\n\r\n", OK
    ) as receiver:
        it = await sending(f"http://localhost:{receiver.port}/")
        await it.send()
        [row] = await it.left()
        assert (row.problem, row.tries, row.given_up_at) == ("it answered with status 500", 1, None)
        await it.send(3)
    assert len({headers["webhook-id"] for headers, _ in receiver.requests}) == 1
    assert len({body for _, body in receiver.requests}) == 1
    assert (len(receiver.requests), await it.left(), it.count("failed")) == (3, [], 2)


async def test_a_message_is_given_up_after_a_day(sending: Open) -> None:
    async with receiving(b"HTTP/1.1 500 Oops\r\n\r\n") as receiver:
        it = await sending(f"http://localhost:{receiver.port}/")
        change = update(_table).values(created_at=_table.c.created_at - GIVE_UP_S)
        await it.store.write(lambda connection: connection.execute(change))
        await it.send(3)
    assert len(receiver.requests) == 1
    [row] = await it.left()
    assert row.given_up_at is not None
    assert (it.count("failed"), it.count("given_up")) == (0, 1)


def test_the_waits_of_a_day_grow_to_an_hour() -> None:
    waits = [AGAIN.wait_s(tries) for tries in range(1, 2_000)]
    assert 3 < waits[0] <= 5
    assert max(waits) <= 3_600
    assert 24 < sum(1 for n in range(len(waits)) if sum(waits[:n]) < GIVE_UP_S) < 50


async def test_a_receiver_that_hangs_is_left_after_the_time_limit(sending: Open) -> None:
    async with receiving(None) as receiver:
        it = await sending(f"http://localhost:{receiver.port}/", limit_s=0.1)
        await it.send()
    [row] = await it.left()
    assert row.problem == "it did not answer within 0.1 s"


async def test_a_name_server_that_hangs_is_left_too(sending: Open) -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    it = await sending("https://hooks.example.com/", hosts=["hooks.example.com"], resolve=resolve, limit_s=0.1)
    await it.send()
    assert (await it.left())[0].problem == "it did not answer within 0.1 s"


async def test_a_redirect_to_loopback_is_not_followed(sending: Open) -> None:
    async with receiving() as inside:
        there = f"HTTP/1.1 307 Over there\r\nlocation: http://127.0.0.1:{inside.port}/\r\n\r\n".encode()
        async with receiving(there) as receiver:
            it = await sending(f"http://localhost:{receiver.port}/")
            await it.send()
    assert inside.requests == []
    assert (await it.left())[0].problem == "it answered with status 307"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3b9aca00\r\nx",
    ],
    ids=["announced", "chunked"],
)
async def test_the_body_of_a_response_is_not_read(sending: Open, answer: bytes) -> None:
    async with receiving(answer) as receiver:
        it = await sending(f"http://localhost:{receiver.port}/")
        await it.send()
    assert await it.left() == []


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 200 OK\r\n" + b"x: " + b"y" * 10_000_000, b"\x00\xff\r\n\r\n", b"", b"HTTP/1.1 102 Wait\r\n\r\n"],
)
async def test_what_is_no_response_is_a_failure(sending: Open, answer: bytes) -> None:
    async with receiving(answer) as receiver:
        it = await sending(f"http://localhost:{receiver.port}/")
        await it.send()
    [row] = await it.left()
    assert row.problem


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["93.184.216.34", "192.168.1.1"],
        ["169.254.169.254"],
        ["0.0.0.0"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["2002:7f00:1::"],
        ["fe80::1"],
        ["fd00::1"],
        ["fec0::1"],
        ["224.0.0.1"],
        ["100.64.0.1"],
        [],
    ],
    ids=lambda each: ",".join(each) or "none",
)
async def test_nothing_is_sent_to_a_host_with_an_address_that_is_not_public(
    sending: Open, addresses: list[str]
) -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        return addresses

    async with receiving() as inside:
        url = f"https://hooks.example.com:{inside.port}/"
        it = await sending(url, hosts=["hooks.example.com"], resolve=resolve)
        await it.send()
    assert inside.requests == []
    [row] = await it.left()
    assert ("not a public one" in row.problem) or not addresses


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "64:ff9b::5db8:d822", "2002:5db8:d822::1"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", ["192.0.0.8", "192.88.99.1", "64:ff9b:1::1", "3fff::1", "3fff:fff::1", "5f00::1"])
def test_addresses_of_special_purposes_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


async def test_nothing_is_sent_to_a_host_that_is_no_setting_any_more(sending: Open) -> None:
    async with receiving() as receiver:
        it = await sending(f"http://localhost:{receiver.port}/", private_hosts=[])
        await it.send()
    assert receiver.requests == []
    assert (await it.left())[0].problem.endswith("not one of ORACLE_WEBHOOK_HOSTS")


async def test_the_connection_is_made_to_the_address_that_was_checked_in_the_name_of_the_host(
    sending: Open, certificate: Path
) -> None:
    """The name server would say something else the second time; it is asked once."""
    asked: list[str] = []

    async def resolve(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    trusted = ssl.create_default_context(cafile=str(certificate))
    async with receiving(tls=tls) as receiver:
        for host, count in (("hooks.example.com", 1), ("other.example.com", 1)):
            it = await sending(
                f"https://{host}:{receiver.port}/", private_hosts=[host], resolve=resolve, trusted=trusted
            )
            await it.send()
            assert len(receiver.requests) == count
    assert asked == ["hooks.example.com", "other.example.com"]
    assert receiver.requests[0][0]["host"] == f"hooks.example.com:{receiver.port}"
    assert "certificate" in (await it.left())[0].problem


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of `hooks.example.com`, with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-subj", "/CN=hooks.example.com", "-addext", "subjectAltName=DNS:hooks.example.com"),
            *("-keyout", str(file), "-out", f"{file}.crt", "-days", "30"),
        ],
        check=True,
        capture_output=True,
    )
    file.write_text(file.read_text() + Path(f"{file}.crt").read_text())
    return file


async def test_in_the_background_an_end_is_told_at_once_and_a_failure_again(sending: Open) -> None:
    async with receiving(b"HTTP/1.1 500 Oops\r\n\r\n", OK) as receiver:
        clock = FakeClock(jump=False)
        it = await sending(f"http://localhost:{receiver.port}/", clock=clock)
        async with it.sender:
            await until(lambda: it.count("failed") == 1)
            await (await begun(it.store, "run-2")).finish(DONE, END)
            await until(lambda: it.count("delivered") == 1)
    told = [json.loads(body)["data"]["run_id"] for _, body in receiver.requests]
    assert told == ["run-1", "run-2"]
    assert [json.loads(row.body)["data"]["run_id"] for row in await it.left()] == ["run-1"]


async def test_a_failure_of_the_store_does_not_end_the_sending(sending: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    async with receiving() as receiver:
        it = await sending(f"http://localhost:{receiver.port}/", clock=SystemClock())
        claim, tries = type(it.store.webhooks).claim, []

        async def failing(self: Any, url: str, *, most: int) -> Any:
            tries.append(url)
            if len(tries) == 1:
                self.nudge()
                raise OSError("no")
            return await claim(self, url, most=most)

        monkeypatch.setattr(type(it.store.webhooks), "claim", failing)
        async with it.sender:
            await until(lambda: it.count("delivered") == 1)
    assert len(tries) >= 2
