"""The command line as a user has it: a folder of its own, only the settings of the test, the real entry point."""

import asyncio
import shutil
import signal
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
import structlog

from oracle.cli import main
from oracle.core.logs import configure_logging
from oracle.runs.storage.store import open_store
from tests.oracle.replay.test_replays import recorded
from tests.support.provider import StandInProvider
from tests.support.stores import sqlite_url


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def own_environment(monkeypatch, tmp_path):
    """A working folder of its own, and no terminal settings from the environment."""
    for name in ("NO_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def own_logging():
    """Restore the logging configuration, so that the order of the tests does not matter."""
    configure_logging()
    yield
    structlog.reset_defaults()


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "login.py").write_text('"""How users log in."""\n\ndef check_password(user, password):\n    ...\n')
    return folder


@pytest.fixture
def oracle(capfd):
    """The console script, run in this process."""

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
async def start():
    """The console script as a separate process, which is killed at the end of the test."""
    started = []

    async def spawn(*arguments, wrapper=(), **options):
        options = {"stdin": asyncio.subprocess.DEVNULL, "stdout": asyncio.subprocess.PIPE} | options
        process = await asyncio.create_subprocess_exec(
            *wrapper,
            sys.executable,
            "-m",
            "oracle",
            *map(str, arguments),
            **{"stderr": asyncio.subprocess.PIPE} | options,
            # A test run in the background of a shell ignores Ctrl-C, and its children would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        started.append(process)
        return process

    yield spawn
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.wait()
        process._transport.close()  # its pipes, of which a test may have read none


@pytest.fixture
def provided(monkeypatch):
    """Point the real SDK at a fake provider, in this process and in its children."""

    def use(provider: StandInProvider, key="test-key"):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", key)

    return use


@pytest.fixture
def data(made, tmp_path):
    """A copy of the data folder that the module has made, and the rows of its runs."""
    folder, records = made
    return shutil.copytree(folder, tmp_path / "data"), records


@pytest.fixture
def database(request, tmp_path, monkeypatch, capfd):
    """The database of the settings: `record` records scripts by name, and returns the ids; `url`.

    SQLite, and of each kind for a test that is marked with `on_both_databases`.
    """
    if getattr(request, "param", "sqlite") == "postgresql":
        url = request.getfixturevalue("postgresql_url")
        monkeypatch.setenv("ORACLE_DATABASE_URL", url)
    else:
        url = sqlite_url(tmp_path / "data" / "oracle.db")
    monkeypatch.setenv("ORACLE_DATA_DIR", str(tmp_path / "data"))

    def record(*names):
        async def ask():
            async with open_store(url, worker="w") as store:
                return [(await recorded(store, name)).id for name in names]

        ids = asyncio.run(ask())
        capfd.readouterr()  # the log of the queries
        return ids

    return SimpleNamespace(record=record, url=url)
