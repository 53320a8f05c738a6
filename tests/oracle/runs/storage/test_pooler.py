"""Two workers behind a pooler that gives each transaction another connection of the server's."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from structlog.testing import capture_logs

from oracle.runs.storage import listener, postgresql
from oracle.runs.storage.records import RunCommand
from oracle.runs.storage.store import Store, open_store
from tests.oracle.runs.storage.making import DONE, END, begun, content, heard
from tests.support.stores import free_port

pytestmark = pytest.mark.long("looks once a second for what no notification brings")

_PREPARED = text("SELECT count(*) FROM pg_prepared_statements")
_CONFIGURATION = """\
[databases]
{database} = host={host} port={port} dbname={database} user={user}{password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {at}
unix_socket_dir =
auth_type = any
pool_mode = transaction
ignore_startup_parameters = extra_float_digits
"""


@pytest.fixture
def pooled_url(postgresql_url: str) -> Iterator[str]:
    """The address of a PgBouncer in front of the server."""
    program = shutil.which("pgbouncer")
    if program is None:
        pytest.skip("pgbouncer is not installed")
    server = make_url(postgresql_url)
    at = free_port()
    known = {"database": server.database, "host": server.host or "127.0.0.1", "port": server.port or 5432}
    known |= {"user": server.username or "postgres", "at": at}
    known["password"] = f" password='{server.password}'" if server.password else ""
    as_user = ["--user", "nobody"] if os.geteuid() == 0 else []  # it refuses to run as root
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        file = Path(folder, "pgbouncer.ini")
        file.write_text(_CONFIGURATION.format(**known))
        with subprocess.Popen([program, *as_user, str(file)], stderr=subprocess.PIPE, text=True, cwd="/") as process:
            assert process.stderr is not None
            said = next((line for line in process.stderr if "process up" in line or "FATAL" in line), "")
            assert "process up" in said
            yield server.set(host="127.0.0.1", port=at).render_as_string(hide_password=False)
            process.terminate()
            process.communicate()


@pytest.fixture
async def two(pooled_url: str) -> AsyncIterator[tuple[Store, Store]]:
    async with open_store(pooled_url, worker="one") as one, open_store(pooled_url, worker="other") as other:
        yield one, other


async def follow_and_command(one: Store, other: Store) -> None:
    log = await begun(one)
    commands = asyncio.Queue[RunCommand]()
    one.commands.subscribe(commands.put_nowait)
    follower = asyncio.create_task(heard(other))
    for number in range(1, 30):
        log.chunk(content(number))
        await log.flush()
    await other.commands.send(RunCommand("run-1", "cancel"))
    async with asyncio.timeout(20):
        assert await commands.get() == RunCommand("run-1", "cancel")
    await log.finish(DONE, END)
    async with asyncio.timeout(20):
        assert await follower == list(range(1, 31))


async def test_workers_behind_a_pooler_read_and_write_and_see_each_other(two: tuple[Store, Store]) -> None:
    one, other = two
    await follow_and_command(one, other)
    for store in two:  # no connection's statements get into the way of another's
        for _ in range(20):
            found = await store.runs.find("run-1")
            assert found is not None
            assert found.status == "finished"


@pytest.fixture
async def unsure(postgresql_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Store, Store]]:
    """Two workers that take the server for a pooler."""
    for module in (listener, postgresql):
        monkeypatch.setattr(module, "is_own_session", lambda _connection, _found: False)
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="other") as other:
        yield one, other


async def test_without_sessions_nothing_is_prepared_and_each_transaction_of_the_writer_is_bounded(
    unsure: tuple[Store, Store],
) -> None:
    one, other = unsure
    await follow_and_command(one, other)
    for _ in range(20):
        assert await one.write(lambda connection: connection.scalar(_PREPARED)) == 0
    assert await one.write(lambda connection: connection.scalar(text("SHOW lock_timeout"))) == "5s"
    idle = text("SHOW idle_in_transaction_session_timeout")
    assert await one.write(lambda connection: connection.scalar(idle)) == "10s"


async def test_a_worker_without_sessions_says_so_once(postgresql_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "is_own_session", lambda _connection, _found: False)
    monkeypatch.setattr(listener, "_LOOK_AGAIN_S", 0.001)
    with capture_logs() as logs:
        async with open_store(postgresql_url, worker="one") as store:
            looks = asyncio.Queue[None]()
            monkeypatch.setattr(store.claims, "look", lambda: looks.put_nowait(None))
            for _ in range(3):
                await looks.get()
            assert not store.claims.presence.has_lock
    assert [line["event"] for line in logs if line["log_level"] == "warning"] == ["store.without_sessions"]
