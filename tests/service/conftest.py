"""Servers that many tests share: each is a process, and a start takes a second or two.

They live in the loop of the session, and so do the tests here (`asyncio(loop_scope="session")`).
"""

import pytest
import pytest_asyncio

from tests.service.provider import Desk
from tests.service.server import Client, Server, serving
from tests.service.users import JWT_SECRET, MODEL, OPERATOR, REQUESTS_PER_MINUTE, TOKENS


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def local_server(tmp_path_factory):
    """Serves the single user `local`."""
    async with serving(tmp_path_factory.mktemp("local")) as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def guarded_server(tmp_path_factory):
    """Serves several users, by tokens and by JWT."""
    settings = {
        "ORACLE_TOKENS": ",".join(f"{token}={user}" for user, token in TOKENS.items()),
        "ORACLE_JWT_SECRET": JWT_SECRET,
        "ORACLE_OPERATORS": OPERATOR,
        "ORACLE_REQUESTS_PER_MINUTE": str(REQUESTS_PER_MINUTE),
        "ORACLE_MODELS": MODEL,
        "ORACLE_MAX_TOKEN_BUDGET": "60000",
    }
    async with serving(tmp_path_factory.mktemp("guarded"), **settings) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def client(local_server: Server):
    """The single user of the server without auth."""
    one = Client(local_server)
    yield one
    await one.aclose()


@pytest.fixture
def desk(local_server: Server) -> Desk:
    """What the provider of the server without auth says."""
    assert local_server.desk is not None
    local_server.desk.play()
    return local_server.desk


def _as_user(server: Server, user: str) -> Client:
    return Client(server, headers={"Authorization": f"Bearer {TOKENS[user]}"})


@pytest_asyncio.fixture(loop_scope="session")
async def alice(guarded_server: Server):
    one = _as_user(guarded_server, "alice")
    yield one
    await one.aclose()


@pytest_asyncio.fixture(loop_scope="session")
async def bob(guarded_server: Server):
    one = _as_user(guarded_server, "bob")
    yield one
    await one.aclose()


@pytest_asyncio.fixture(loop_scope="session")
async def operator(guarded_server: Server):
    one = _as_user(guarded_server, OPERATOR)
    yield one
    await one.aclose()


@pytest_asyncio.fixture(loop_scope="session")
async def stranger(guarded_server: Server):
    """Somebody without a token."""
    one = Client(guarded_server)
    yield one
    await one.aclose()


@pytest.fixture
def guarded_desk(guarded_server: Server) -> Desk:
    assert guarded_server.desk is not None
    guarded_server.desk.play()
    return guarded_server.desk
