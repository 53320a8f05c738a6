"""A PostgreSQL server for tests: the one that answers, or one that is started from installed binaries."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

import psycopg
from psycopg import sql
from sqlalchemy.engine import make_url

DEFAULT = "postgresql://postgres@127.0.0.1:5432/test"
_BINARIES = "/usr/lib/postgresql"


class NoServerError(Exception):
    """There is no PostgreSQL to test with; the message says why."""


@contextmanager
def server() -> Iterator[str]:
    """The address of a server's database: `ORACLE_TEST_DATABASE_URL`, or the usual one, or one that is started."""
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
def fresh_schema(server_url: str) -> Iterator[str]:
    """The address of an empty schema, which is dropped afterwards."""
    name = f"oracle_{uuid4().hex}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
    url = make_url(server_url).update_query_dict({"options": f"-csearch_path={name}"})
    try:
        yield url.render_as_string(hide_password=False)
    finally:
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute("SET client_min_messages = warning")
            connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))


@contextmanager
def _started() -> Iterator[str]:
    bin_dir = _bin_dir()
    folder = Path(mkdtemp(prefix="oracle-postgresql-"))
    as_other = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []  # it refuses to run as root
    if as_other:
        shutil.chown(folder, "postgres")
    data, port = folder / "data", _free_port()
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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
