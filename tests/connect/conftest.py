"""Stages and clients that many tests share: a start of a process takes a second or two, an installation half a minute.

They live in the loop of the session, and so do the tests here (`asyncio(loop_scope="session")`).
"""

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from filelock import FileLock

from tests.connect.stage import Node, Stage, staged
from tests.support.issuer import IssuerServer, issuing
from tests.support.stores import NoServerError, postgresql, server

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Services as processes, and clients that are installed: all tests here are long."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.long("real clients, against services that are processes of their own"))


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    """Node 22 and the packages of `node/package-lock.json`; kept between sessions while they are the same."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    digest = hashlib.sha256((HERE / "node" / "package-lock.json").read_bytes()).hexdigest()[:16]
    kept = Path(tempfile.gettempdir()) / f"oracle-connect-{digest}"
    kept.mkdir(exist_ok=True)
    with FileLock(kept / "lock"):
        if not (kept / "node_modules" / ".package-lock.json").exists():
            for name in ("package.json", "package-lock.json"):
                shutil.copy(HERE / "node" / name, kept)
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            ended = subprocess.run(command, cwd=kept, capture_output=True, text=True, timeout=300, check=False)
            assert ended.returncode == 0, ended.stdout + ended.stderr
    folder = tmp_path_factory.mktemp("node")
    for file in (HERE / "node").iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    (folder / "node_modules").symlink_to(kept / "node_modules")
    return Node(folder)


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """Of an empty database."""
    try:
        with server() as url, postgresql(url) as database:
            yield database
    except NoServerError as error:
        pytest.skip(f"PostgreSQL could not be tested: {error}")


@pytest.fixture(scope="session")
def issuer() -> Iterator[IssuerServer]:
    """An OpenID Connect issuer, which stages take tokens of."""
    with issuing() as found:
        yield found


@pytest.fixture
def on_both_databases() -> None:
    """What a test uses that kills a worker, or needs several; others are run on one worker and SQLite.

    It is run with two workers on PostgreSQL, by `make soak` with one as well. The stage itself, and the bytes of one
    protocol, are always tested on both.
    """


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "shared_stage" in metafunc.fixturenames:
        is_always = metafunc.module.__name__.endswith(("test_stage", "test_openai_responses"))
        alone = pytest.param("sqlite", marks=() if is_always else pytest.mark.soak)
        kinds = [alone, "postgresql"] if "on_both_databases" in metafunc.fixturenames else ["sqlite"]
        metafunc.parametrize("shared_stage", kinds, indirect=True, scope="session")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_stage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, issuer: IssuerServer
) -> AsyncIterator[Stage]:
    """One worker on SQLite, and two on PostgreSQL."""
    database = request.getfixturevalue("postgresql_url") if request.param == "postgresql" else None
    users = {"ORACLE_OIDC_ISSUERS": f"corp={issuer.url}", "ORACLE_OIDC_AUDIENCES": "corp=oracle"}
    async with staged(tmp_path_factory.mktemp(request.param), database=database, **users) as stage:
        yield stage


@pytest.fixture
def stage(shared_stage: Stage) -> Stage:
    """The stage, whose provider has nothing laid out, and whose proxy lets everything through."""
    shared_stage.desk.play()
    shared_stage.proxy.mend()
    return shared_stage
