"""Who asks through a chat backend: by the headers that Open WebUI and LibreChat send, and by forged ones."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.server.api.auth import Authenticator, Caller, UnauthorizedError
from oracle.server.api.named import NamingError
from oracle.server.settings.fields import Settings
from oracle.server.wiring.identity import authenticator
from oracle.testing import ScriptedTurn
from tests.support.issuer import issuing

RECORDED = json.loads((Path(__file__).parents[3] / "data" / "clients" / "identity_headers.json").read_text())
SECRET = "a-secret-that-open-webui-and-we-share-0123"
TOKENS = {"webui-token": "webui", "chat-token": "librechat", "anna-token": "anna"}
ANNA = RECORDED["open_webui_signed"]["claims"]["sub"]
BACKENDS = ("webui", "librechat")


def made(**more) -> Authenticator:
    given = {"tokens": TOKENS, "chat_backends": BACKENDS, "openwebui_jwt_secret": SECRET, "user_header": "X-User-Id"}
    return authenticator(Settings(**(given | more)))


CHECKED = made()


def signed(key: str = SECRET, algorithm: str = "HS256", **claims) -> str:
    whole = RECORDED["open_webui_signed"]["claims"] | {"exp": time.time() + 300} | claims
    return jwt.encode({name: each for name, each in whole.items() if each is not None}, key, algorithm=algorithm)


def recorded(name: str, *, token: str = "webui-token", **more: str) -> list[tuple[bytes, bytes]]:
    """The headers of a recorded request as ASGI has them."""
    filled = RECORDED[name]["headers"] | {"Authorization": f"Bearer {token}"} | more
    return [(key.lower().encode(), value.encode()) for key, value in filled.items()]


def by_jwt(value: str, *, token: str = "webui-token") -> list[tuple[bytes, bytes]]:
    return recorded("open_webui_signed", token=token, **{"X-OpenWebUI-User-Jwt": value})


async def refused(headers: list[tuple[bytes, bytes]], by: Authenticator = CHECKED, **options) -> str:
    with pytest.raises(NamingError) as error:
        await by.caller(headers, **options)
    return str(error.value)


async def test_open_webui_names_its_user_by_a_signed_header():
    assert await CHECKED.caller(by_jwt(signed())) == Caller(f"webui:{ANNA}")
    assert await CHECKED.caller(by_jwt(signed(exp=time.time() - 50))) == Caller(f"webui:{ANNA}")  # clocks differ


async def test_open_webui_names_its_user_in_plain_words_if_the_operator_allows_that_header():
    headers = recorded("open_webui_plain")
    told = await refused(headers)
    assert "must name its user: X-OpenWebUI-User-Jwt or X-User-Id header" in told
    allowed = made(user_header="X-OpenWebUI-User-Id", operators=(f"webui:{ANNA}", "webui:7"))
    assert await allowed.caller(headers) == Caller(f"webui:{ANNA}"), "and no operator: nothing proves it"
    assert (await allowed.caller(by_jwt(signed(sub="7")))).is_operator, "that is proven"


async def test_the_signed_header_counts_beside_a_plain_one():
    both = made(user_header="X-OpenWebUI-User-Id")
    headers = recorded("open_webui_plain", **{"X-OpenWebUI-User-Jwt": signed(sub="bert")})
    assert await both.caller(headers) == Caller("webui:bert")
    forged = recorded("open_webui_plain", **{"X-OpenWebUI-User-Jwt": "forged"})
    assert "is not valid" in await refused(forged, both)


async def test_librechat_names_its_user_by_an_access_token_or_in_plain_words():
    assert await CHECKED.caller(recorded("librechat_plain", token="chat-token")) == Caller(
        "librechat:68b1c0ffee5f2a0c4d9e7a31"
    )
    with issuing() as issuer:
        both = made(
            user_token_header="X-User-Token",
            oidc_issuers=(f"corp={issuer.url}",),
            oidc_audiences=("corp=oracle",),
            oidc_operators=("corp=groups=ops",),
        )

        def sent(**claims) -> list[tuple[bytes, bytes]]:
            return recorded("librechat", token="chat-token", **{"X-User-Token": issuer.token(**claims)})

        assert await both.caller(sent()) == Caller("librechat:corp:anna")
        assert await both.caller(sent(groups=["ops"])) == Caller("librechat:corp:anna", is_operator=True)
        assert (
            await refused(sent(exp=time.time() - 100), both) == "The X-User-Token header is not valid: it has expired."
        )
        told = await refused(recorded("librechat_unfilled", token="chat-token"), both)
        assert "sent its template without filling in a user" in told
        assert "more than once" in await refused([*sent(), (b"x-user-token", issuer.token().encode())], both)
        assert "1-190 printable" in await refused(sent(sub="a" * 245), both)
        for forged in (
            recorded("librechat_plain", token="chat-token", **{"X-User-Id": "corp:anna"}),
            by_jwt(signed(sub="corp:anna"), token="chat-token"),
        ):
            assert "begins as only the users of an issuer do" in await refused(forged, both)
        assert "may not name users (x-user-token header)" in await refused(
            [(b"authorization", f"Bearer {issuer.token()}".encode()), (b"x-user-token", issuer.token().encode())], both
        )


FORGED: Mapping[str, tuple[Callable[[], str], str]] = {
    "another secret": (lambda: signed(key="another-secret-that-is-long-enough-01"), "its signature is wrong"),
    "expired": (lambda: signed(exp=time.time() - 70), "it has expired"),
    "no end": (lambda: signed(exp=None), "it has no 'exp'"),
    "no issuer": (lambda: signed(iss=None), "it has no 'iss'"),
    "another issuer": (lambda: signed(iss="me"), "it is of another issuer ('iss')"),
    "no user": (lambda: signed(sub=None), "it has no 'sub'"),
    "an empty user": (lambda: signed(sub=""), "its user must be 1-190 printable characters"),
    "a long user": (lambda: signed(sub="a" * 250), "its user must be 1-190 printable characters"),
    "two lines": (lambda: signed(sub="a\nb"), "its user must be 1-190 printable characters"),
    "another algorithm": (
        lambda: signed(algorithm="HS512", key=SECRET * 2),
        "it is signed with another algorithm ('alg')",
    ),
    "none": (lambda: "eyJhbGciOiJub25lIn0.e30.", "it is signed with another algorithm ('alg')"),
    "no token": (lambda: "anna", "it is not formed as it must be"),
    "nothing": (lambda: "", "it is not formed as it must be"),
    "huge": (lambda: "a." * 20_000, "it is sent more than once or is longer than 16,384 bytes"),
}


@pytest.mark.parametrize("name", FORGED)
async def test_a_forged_header_is_refused_in_clear_words_without_its_own(name):
    value, problem = FORGED[name]
    told = await refused(by_jwt(value()))  # made now: it expires within minutes
    assert told == f"The X-OpenWebUI-User-Jwt header is not valid: {problem}."


async def test_a_header_that_is_sent_twice_is_refused():
    assert "more than once" in await refused([*by_jwt(signed()), (b"x-openwebui-user-jwt", signed().encode())])


@pytest.mark.parametrize("value", ["", " ", "{{LIBRECHAT_USER_ID}}", "${USER}", "a\tb", "a" * 300, "\x7f"])
async def test_plain_words_that_name_nobody_are_refused(value):
    headers = recorded("librechat_plain", token="chat-token", **{"X-User-Id": value})
    assert "The X-User-Id header is not valid" in await refused(headers)


async def test_a_request_that_names_nobody_is_refused_but_for_the_list_of_models():
    nobody = [(b"authorization", b"Bearer webui-token")]
    assert "Otherwise all users of the chat would be the same user" in await refused(nobody)
    assert await CHECKED.caller(nobody, may_be_nobody=True) == Caller("webui")
    assert "is not valid" in await refused(by_jwt("forged"), may_be_nobody=True)


@pytest.mark.parametrize(
    "header", ["X-OpenWebUI-User-Jwt", "X-OpenWebUI-User-Id", "X-OpenWebUI-User-Email", "x-user-id"]
)
async def test_who_is_no_backend_may_not_name_users(header):
    headers = [(b"authorization", b"Bearer anna-token"), (header.lower().encode(), b"bert")]
    told = await refused(headers)
    assert f"This token may not name users ({header.lower()} header)" in told
    assert "ORACLE_CHAT_BACKENDS" in told
    with pytest.raises(UnauthorizedError):  # without a token nothing is explained
        await CHECKED.caller([(b"authorization", b"Bearer guessed"), *headers[1:]])
    if header != "x-user-id":
        assert "ORACLE_CHAT_BACKENDS" in await refused(headers, Authenticator(tokens=TOKENS))


async def test_what_cannot_be_checked_is_refused_with_what_to_set():
    told = await refused(by_jwt(signed()), made(openwebui_jwt_secret=None))
    assert "ORACLE_OPENWEBUI_JWT_SECRET" in told
    assert "FORWARD_USER_INFO_HEADER_JWT_SECRET" in told


async def test_users_of_two_backends_and_own_users_never_meet():
    own = made(jwt_secret="s" * 32)
    names = {
        (await own.caller(headers)).user_id
        for headers in (
            by_jwt(signed(sub="anna")),
            by_jwt(signed(sub="anna"), token="chat-token"),
            recorded("librechat_plain", token="chat-token", **{"X-User-Id": "webui:anna"}),
            [(b"authorization", b"Bearer anna-token")],
            [(b"authorization", b"Bearer " + jwt.encode({"sub": "Webui:anna"}, "s" * 32).encode())],
        )
    }
    assert names == {"webui:anna", "librechat:anna", "librechat:webui:anna", "anna", "Webui:anna"}
    with pytest.raises(UnauthorizedError):
        await own.caller([(b"authorization", b"Bearer " + jwt.encode({"sub": "webui:anna"}, "s" * 32).encode())])


async def test_no_secret_is_in_what_the_parts_say_of_themselves():
    told = await refused(by_jwt(signed(key="another-secret-that-is-long-enough-01")))
    for shown in (repr(CHECKED), repr(CHECKED._backends), told):
        assert SECRET not in shown
        assert "webui-token" not in shown


@given(
    st.binary(max_size=80), st.sampled_from([b"x-openwebui-user-jwt", b"x-user-id"]), st.sampled_from(["webui", "anna"])
)
def test_no_value_of_a_header_names_a_user_of_another_kind(value, header, user):
    headers = [(b"authorization", f"Bearer {user}-token".encode()), (header, value)]
    told, caller = "", None
    try:
        caller = asyncio.run(CHECKED.caller(headers))
    except NamingError as error:
        told = str(error)
    if caller is None:
        assert len(value) < 8 or value.decode("latin-1") not in told
        return
    assert (header, user) == (b"x-user-id", "webui")
    assert caller == Caller(f"webui:{value.decode().strip()}")
    assert caller.user_id.isprintable()


async def test_two_users_of_a_chat_do_not_see_each_other(start):
    service = await start(
        [ScriptedTurn(text="Yes.")],
        tokens=TOKENS,
        chat_backends=BACKENDS,
        openwebui_jwt_secret=SECRET,
        requests_per_minute=1,
    )

    def of(user: str) -> dict[str, str]:
        return {"Authorization": "Bearer webui-token", "X-OpenWebUI-User-Jwt": signed(sub=user)}

    streamed = await service.ask("hello", headers=of("ann"))
    path = f"/api/oracle/runs/{streamed.run_id}"
    assert [(await service.client.get(path, headers=of(user))).status_code for user in ("ann", "ben")] == [200, 404]
    runs = [(await service.client.get("/api/runs", headers=of(user))).json()["runs"] for user in ("ann", "ben")]
    assert [[run["user_id"] for run in each] for each in runs] == [["webui:ann"], []]
    other = await service.ask("hello", headers=of("ben"))
    again = await service.client.post("/api/oracle", json={"question": "hello"}, headers=of("ann"))
    assert again.status_code == 429, "each has a limit of its own"
    assert other.done["termination_reason"] == "completed"
    forged = {**of("ann"), "X-OpenWebUI-User-Jwt": signed(key="another-secret-that-is-long-enough-01")}
    answer = await service.client.get(path, headers=forged)
    assert (answer.status_code, answer.json()) == (
        403,
        {"detail": "The X-OpenWebUI-User-Jwt header is not valid: its signature is wrong."},
    )
