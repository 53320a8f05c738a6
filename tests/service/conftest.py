"""Servers that many tests share: each is a process, and a start takes a second or two.

They live in the loop of the session, and so do the tests here (`asyncio(loop_scope="session")`).
"""

import contextlib
from collections.abc import Mapping

import pytest
import pytest_asyncio

from tests.service.provider import Desk
from tests.service.server import Client, Connect, Server, serving
from tests.service.users import JWT_SECRET, MODEL, OPERATOR, REQUESTS_PER_MINUTE, TOKENS, token_of


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def local_server(tmp_path_factory):
    """Serves the single user `local`."""
    async with serving(tmp_path_factory.mktemp("local")) as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def loop_server(tmp_path_factory):
    """As `local_server`, under the plain loop."""
    async with serving(tmp_path_factory.mktemp("loop"), ORACLE_CONTROL="loop") as server:
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
async def connect():
    """Makes clients, which are closed at the end of the test."""
    async with contextlib.AsyncExitStack() as stack:

        def one(server: Server, headers: Mapping[str, str] | None = None) -> Client:
            client = Client(server, headers=headers)
            stack.push_async_callback(client.aclose)
            return client

        yield one


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Server:
    """`local_server`, or the one that a test marked with `under_both` is run with."""
    found: Server = request.getfixturevalue(getattr(request, "param", "local_server"))
    return found


@pytest.fixture
def client(server: Server, connect: Connect) -> Client:
    """The single user of the server without auth."""
    return connect(server)


@pytest.fixture
def desk(server: Server) -> Desk:
    """What the provider of the server without auth says."""
    assert server.desk is not None
    server.desk.play()
    return server.desk


@pytest.fixture
def alice(guarded_server: Server, connect: Connect) -> Client:
    return connect(guarded_server, token_of("alice"))


@pytest.fixture
def bob(guarded_server: Server, connect: Connect) -> Client:
    return connect(guarded_server, token_of("bob"))


@pytest.fixture
def operator(guarded_server: Server, connect: Connect) -> Client:
    return connect(guarded_server, token_of(OPERATOR))


@pytest.fixture
def stranger(guarded_server: Server, connect: Connect) -> Client:
    """A caller without a token."""
    return connect(guarded_server)


@pytest.fixture
def guarded_desk(guarded_server: Server) -> Desk:
    assert guarded_server.desk is not None
    guarded_server.desk.play()
    return guarded_server.desk
