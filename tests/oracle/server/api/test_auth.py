import time
from hashlib import sha256

import jwt
import pytest
from structlog.testing import capture_logs

from oracle.core.logs import configure_logging
from oracle.server.api.auth import Authenticator, Caller, UnauthorizedError

SECRET = "a-secret-that-is-long-enough-for-every-algorithm-that-a-token-may-try-to-name"
SIGNED = Authenticator(jwt_secret=SECRET, operators=("olga",))
LISTED = Authenticator(tokens={"alice-token": "alice", "alice-too": "alice", "olga-token": "olga"}, operators=("olga",))


def header(value: str | bytes) -> list[tuple[bytes, bytes]]:
    return [(b"accept", b"*/*"), (b"authorization", value if isinstance(value, bytes) else value.encode())]


def signed(claims: dict, key: str = SECRET, algorithm: str = "HS256", **options) -> list[tuple[bytes, bytes]]:
    return header("Bearer " + jwt.encode(claims, key, algorithm=algorithm, **options))


@pytest.mark.parametrize("headers", [[], header("Bearer anything"), header("Basic bG9jYWw6")])
async def test_without_auth_everybody_is_local_whatever_the_headers_say(headers):
    authenticator = Authenticator(operators=("local",))
    assert not authenticator.is_required
    assert await authenticator.caller(headers) == Caller("local", is_operator=True)


@pytest.mark.parametrize(
    ("token", "caller"),
    [
        ("alice-token", Caller("alice")),
        ("alice-too", Caller("alice")),
        ("olga-token", Caller("olga", is_operator=True)),
    ],
)
async def test_a_fixed_token_names_its_user(token, caller):
    assert await LISTED.caller(header(f"Bearer {token}")) == caller
    assert await LISTED.caller(header(f"bearer  {token} ")) == caller


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param([], id="none"),
        pytest.param(header("Bearer"), id="no token"),
        pytest.param(header("Bearer "), id="empty token"),
        pytest.param(header("Basic alice-token"), id="another scheme"),
        pytest.param(header("alice-token"), id="no scheme"),
        pytest.param(header("Bearer alice-toke"), id="a part of one"),
        pytest.param(header("Bearer alice-token2"), id="more than one"),
        pytest.param(header("Bearer ALICE-TOKEN"), id="in capitals"),
        pytest.param(header("Bearer alice-token=alice"), id="with its user"),
        pytest.param(header("Bearer alice"), id="the user alone"),
        pytest.param(header("Bearer local"), id="the user without auth"),
        pytest.param(header(f"Bearer {sha256(b'alice-token').hexdigest()}"), id="its digest"),
        pytest.param(header("Bearer alice-token, Bearer olga-token"), id="two in one header"),
        pytest.param(header("Bearer alice-token alice-token"), id="twice"),
        pytest.param(header("Bearer alice-token") * 2, id="two headers"),
        pytest.param(header(b"Bearer \xff\xfe"), id="not ASCII"),
        pytest.param(header("Bearer " + "a" * 20_000), id="too long"),
    ],
)
@pytest.mark.parametrize("authenticator", [LISTED, SIGNED], ids=["tokens", "jwt"])
async def test_requests_without_a_valid_token_are_refused(authenticator, headers):
    assert authenticator.is_required
    with pytest.raises(UnauthorizedError):
        await authenticator.caller(headers)


@pytest.mark.parametrize(
    "claims",
    [
        {"sub": "alice"},
        {"sub": "alice", "exp": time.time() + 3600},
        {"sub": "alice", "nbf": time.time() - 3600, "iat": time.time() - 3600},
        {"sub": "alice", "aud": "somebody", "iss": "somebody"},
    ],
)
async def test_a_signed_token_names_its_user(claims):
    assert await SIGNED.caller(signed(claims)) == Caller("alice")


async def test_an_operator_is_one_by_either_kind_of_token():
    assert (await SIGNED.caller(signed({"sub": "olga"}))).is_operator
    assert (await LISTED.caller(header("Bearer olga-token"))).is_operator
    assert await SIGNED.caller(signed({"sub": "local"})) == Caller("local")


async def test_the_representation_of_an_authenticator_has_no_secret():
    both = Authenticator(tokens={"alice-token": "alice"}, jwt_secret=SECRET)
    assert "alice-token" not in repr(both)
    assert SECRET not in repr(both)
    with pytest.raises(UnauthorizedError) as refused:
        await both.caller(header("Bearer guessed-token"))
    assert "guessed" not in str(refused.value)


async def test_a_short_secret_works_without_a_warning_for_each_token():
    with pytest.warns(jwt.warnings.InsecureKeyLengthWarning):
        headers = signed({"sub": "alice"}, key="short")
    assert await Authenticator(jwt_secret="short").caller(headers) == Caller("alice")


@pytest.mark.parametrize("sub", ["", "a\0b", "\ud800", "a" * 256, "two\nlines"])
async def test_the_reason_why_a_users_name_is_refused_is_only_logged(sub):
    configure_logging("warning")
    with capture_logs() as logs, pytest.raises(UnauthorizedError, match="A valid bearer token is required"):
        await SIGNED.caller(signed({"sub": sub}))
    assert logs[0]["event"] == "token.refused"
    assert len(logs[0]["sub"]) <= 80
    assert logs[0]["sub"].isprintable()
