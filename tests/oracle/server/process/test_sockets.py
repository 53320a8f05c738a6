import socket

import pytest

from oracle.core.errors import OperatorError
from oracle.server.process.process import refuse_open_door
from oracle.server.process.server import address, bind, is_loopback
from oracle.server.settings.fields import Settings


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "::1", "[::1]", "127.8.8.8"])
def test_this_machine_alone_reaches_loopback(host):
    assert is_loopback(host)
    refuse_open_door(Settings(), host=host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.com", "localhost.example.com", "", "127.1"])
def test_nothing_else_is_listened_on_but_with_authentication(host):
    assert not is_loopback(host)
    with pytest.raises(
        OperatorError, match="set ORACLE_JWT_SECRET, ORACLE_TOKENS or ORACLE_OIDC_ISSUERS, or use --host 127"
    ):
        refuse_open_door(Settings(), host=host)
    refuse_open_door(Settings(tokens={"t": "anna"}), host=host)


def test_a_port_in_use_is_an_error_with_a_remedy():
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OperatorError) as caught:
            bind("127.0.0.1", port)
    assert str(caught.value) == (
        f"cannot listen on http://127.0.0.1:{port}: the port is in use; stop what listens there, or choose another "
        "with --port (0 picks a free one)"
    )


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("192.0.2.1", "this machine has no such address; choose another --host"),
        ("no such host", "there is no host 'no such host'; choose another --host"),
        ("a" * 300, "there is no host 'a"),
    ],
)
def test_an_address_of_another_machine_is_an_error(host, message):
    with pytest.raises(OperatorError, match=message):
        bind(host, 0)


def test_connections_are_refused_before_the_service_listens():
    with bind("localhost", 0) as bound, socket.socket() as client:
        assert client.connect_ex(bound.getsockname()) != 0


def test_addresses_are_written_as_browsers_take_them():
    assert [address(host, 80) for host in ("::1", "[::1]", "localhost")] == [
        "http://[::1]:80",
        "http://[::1]:80",
        "http://localhost:80",
    ]
