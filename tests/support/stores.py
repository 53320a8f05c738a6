"""Databases for tests: empty ones, and copies of one that has the tables already.

Making the tables takes ten times as long as a copy of them. Each process makes them once for each kind of database.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from uuid import uuid4

import psycopg
from psycopg import sql
from sqlalchemy.engine import make_url

from oracle.runs.storage.database import Database, read_url
from oracle.runs.storage.setup import prepare

DEFAULT = "postgresql://postgres@127.0.0.1:5432/test"
_BINARIES = "/usr/lib/postgresql"


class NoServerError(Exception):
    """There is no PostgreSQL to test with; the message says why."""


def sqlite_url(file: Path) -> str:
    """The address of a new SQLite database that has the tables of this version, and nothing in them."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.touch(mode=0o600)
    file.write_bytes(_sqlite())
    return f"sqlite:///{file}"


@contextmanager
def server() -> Iterator[str]:
    """The address of a server's database: `ORACLE_TEST_DATABASE_URL`, or the usual one, or one that is started.

    Raises:
        NoServerError: there is none.
    """
    wanted = os.environ.get("ORACLE_TEST_DATABASE_URL")
    try:
        psycopg.connect(wanted or DEFAULT, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        if wanted is not None:
            raise NoServerError(f"no server answers at ORACLE_TEST_DATABASE_URL ({error})") from None
    else:
        yield wanted or DEFAULT
        return
    with _started() as url:
        yield url


@contextmanager
def postgresql(server_url: str, *, template: str | None = None) -> Iterator[str]:
    """The address of a new database of a server, which is dropped afterwards.

    Args:
        server_url: of another database of the server.
        template: the address of the database whose copy it is, which nobody uses meanwhile; by default it is empty.
    """
    name = f"oracle_{uuid4().hex}"
    named = sql.Identifier(name)
    source = sql.Identifier("template1" if template is None else str(make_url(template).database))
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(named, source))
    try:
        yield make_url(server_url).set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(named))


@contextmanager
def postgresql_template(server_url: str) -> Iterator[str]:
    """The address of a PostgreSQL database that has the tables of this version, to be copied."""
    with postgresql(server_url) as url:
        make_tables(url)
        yield url


def make_tables(url: str) -> None:
    """Give a database the tables of this version."""
    database = Database(read_url(url), now=time.time)
    try:
        prepare(database)()
    finally:
        database.close()


@cache
def _sqlite() -> bytes:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "oracle.db"
        make_tables(f"sqlite:///{file}")
        return file.read_bytes()  # the last connection has written its log back into the file


@contextmanager
def _started() -> Iterator[str]:
    bin_dir = _bin_dir()
    folder = Path(mkdtemp(prefix="oracle-postgresql-"))
    as_other = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []  # it refuses to run as root
    if as_other:
        shutil.chown(folder, "postgres")
    data, port = folder / "data", free_port()
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    control = [*as_other, str(bin_dir / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log")]
    try:
        _run([*as_other, str(bin_dir / "initdb"), "-D", str(data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "-N"])
        _run([*control, "-o", options, "start"])
        try:
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        finally:
            _run([*control, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _bin_dir() -> Path:
    found = sorted(Path(_BINARIES).glob("*/bin"), key=lambda path: float(path.parent.name))
    if found:
        return found[-1]
    initdb = shutil.which("initdb")
    if initdb is None:
        raise NoServerError(f"no server answers at {DEFAULT}, and none is installed that could be started")
    return Path(initdb).parent


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=60, cwd="/")
    except (OSError, subprocess.SubprocessError) as error:
        raise NoServerError(f"no server answers at {DEFAULT}, and none could be started: {error}") from None


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
