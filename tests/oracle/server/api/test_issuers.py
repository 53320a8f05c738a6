"""Tokens of a real issuer on loopback, whose keys change, and which goes away."""

import asyncio
import json
import time

import jwt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from oracle.core.logs import configure_logging
from oracle.server.api import tokens as issuers_module
from oracle.server.api.auth import Authenticator, Caller, UnauthorizedError
from oracle.server.api.named import BadTokenError
from oracle.server.api.tokens import IssuerTokens
from oracle.server.settings.identity import Issuer
from tests.support.issuer import KEYS_PATH, IssuerServer, as_jwk, issuing, private_key, public_pem


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture(autouse=True)
def logging_():
    configure_logging("warning")


@pytest.fixture
def issuer():
    with issuing() as server:
        yield server


@pytest.fixture
def clock():
    return Clock()


def checker(issuer: IssuerServer, clock: Clock, **more) -> IssuerTokens:
    return IssuerTokens([Issuer("corp", issuer.url, ("oracle", "oracle-too"), **more)], clock=clock)


@pytest.fixture
def tokens(issuer, clock):
    return checker(issuer, clock)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_a_token_of_each_algorithm_names_its_user(issuer, tokens, algorithm):
    issuer.keys = {"one": algorithm}
    assert await tokens.user_of(issuer.token()) == ("corp:anna", False, True)
    assert await tokens.user_of(issuer.token(aud=["other", "oracle-too"], sub="bert")) == ("corp:bert", False, True)
    assert issuer.fetches == 1


def _unsigned(issuer: IssuerServer, algorithm: str) -> str:
    _, body, _ = issuer.token().split(".")
    head = jwt.utils.base64url_encode(f'{{"alg":"{algorithm}","kid":"one"}}'.encode()).decode()
    return f"{head}.{body}."


def _with_public_key(issuer: IssuerServer) -> str:
    """The classical one: the public key as the secret of HS256."""
    head, body, _ = (part.encode() for part in issuer.token().split("."))
    head = jwt.utils.base64url_encode(b'{"alg":"HS256","kid":"one"}')
    algorithm = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    signature = jwt.utils.base64url_encode(algorithm.sign(head + b"." + body, public_pem("one")))
    return b".".join((head, body, signature)).decode()


def _signed(issuer: IssuerServer, **claims: object) -> str:
    """A token with claims of kinds that the library does not sign."""
    whole = {"iss": issuer.url, "aud": "oracle", "sub": "anna", "exp": int(time.time()) + 60} | claims
    head, body = issuer.token().split(".")[0], jwt.utils.base64url_encode(json.dumps(whole).encode()).decode()
    signature = jwt.get_algorithm_by_name("RS256").sign(f"{head}.{body}".encode(), private_key("one"))
    return f"{head}.{body}.{jwt.utils.base64url_encode(signature).decode()}"


WRONG = {
    "expired": (lambda it: it.token(exp=time.time() - 70), "it has expired"),
    "not yet valid": (lambda it: it.token(nbf=time.time() + 100), "it is not valid yet"),
    "made in the future": (lambda it: it.token(iat=time.time() + 100), "it is not valid yet"),
    "no end": (lambda it: it.token(exp=None), "it has no 'exp'"),
    "endless": (lambda it: it.token(exp=float("inf")), "it is not formed as it must be"),
    "no audience": (lambda it: it.token(aud=None), "it has no 'aud'"),
    "another audience": (lambda it: it.token(aud="else"), "it is for another audience ('aud')"),
    "audience of another kind": (lambda it: it.token(aud={"oracle": 1}), "it is for another audience ('aud')"),
    "no issuer": (lambda it: it.token(iss=None), "its issuer ('iss') is not known to this service"),
    "another issuer": (lambda it: it.token(iss="https://evil.example"), "its issuer ('iss') is not known"),
    "issuers": (lambda it: _signed(it, iss=[it.url]), "its issuer ('iss') is not known to this service"),
    "a number for a user": (lambda it: _signed(it, sub=7), "it is not formed as it must be"),
    "a list for a time": (lambda it: _signed(it, exp=[1]), "it is not formed as it must be"),
    "no user": (lambda it: it.token(sub=None), "it has no 'sub'"),
    "empty user": (lambda it: it.token(sub=""), "its user ('sub') is not a text of printable characters"),
    "long user": (lambda it: it.token(sub="a" * 251), "its user ('sub') is not a text of printable characters"),
    "two lines": (lambda it: it.token(sub="a\nb"), "its user ('sub') is not a text of printable characters"),
    "none": (lambda it: _unsigned(it, "none"), "its algorithm is not one of RS256, ES256, EdDSA"),
    "None": (lambda it: _unsigned(it, "None"), "its algorithm is not one of RS256, ES256, EdDSA"),
    "not signed": (lambda it: _unsigned(it, "RS256"), "its signature is wrong"),
    "another algorithm": (lambda it: _unsigned(it, "ES256"), "it is signed with another algorithm ('alg')"),
    "the public key as a secret": (_with_public_key, "its algorithm is not one of RS256, ES256, EdDSA"),
    "another key": (lambda it: it.token(key=private_key("evil")), "its signature is wrong"),
    "no key": (lambda it: it.token(kid=None), "it does not say which key has signed it ('kid')"),
    "unknown key": (lambda it: it.token(kid="two"), "the key that has signed it ('kid') is not known"),
    "no token": (lambda _: "a.b.c", "it is no JSON Web Token"),
    "deep": (
        lambda _: (jwt.utils.base64url_encode(b"[" * 9_000) + b".e30.").decode(),
        "it is no JSON Web Token",
    ),
}


@pytest.mark.parametrize("name", WRONG)
async def test_what_is_wrong_with_a_token_is_told_without_a_word_of_it(issuer, tokens, name):
    make, told = WRONG[name]
    token = make(issuer)
    with pytest.raises(BadTokenError) as refused:
        await tokens.user_of(token)
    assert str(refused.value).startswith(told)
    assert not any(len(part) > 8 and part in str(refused.value) for part in token.split("."))


@pytest.mark.parametrize(
    "kid",
    ["../../dev/null", "one\0", "one' OR '1'='1", "ONE", " one", "{one}", "k" * 9_000, ["one"], {"kid": "one"}, 1],
)
async def test_the_name_of_a_key_is_compared_and_nothing_else(issuer, tokens, kid):
    head = jwt.utils.base64url_encode(json.dumps({"alg": "RS256", "kid": kid}).encode()).decode()
    body = issuer.token().split(".")[1]
    signature = jwt.get_algorithm_by_name("RS256").sign(f"{head}.{body}".encode(), private_key("one"))
    with pytest.raises(BadTokenError):
        await tokens.user_of(f"{head}.{body}.{jwt.utils.base64url_encode(signature).decode()}")
    assert set(issuer.asked) <= {issuer.discovery_path, KEYS_PATH}


async def test_no_key_is_taken_from_a_token_or_from_where_it_says(issuer, tokens):
    with issuing() as evil:
        evil.keys = {"one": "ES256"}
        at = f"http://127.0.0.1:{evil.port}{KEYS_PATH}"
        header = {"kid": "one", "jku": at, "x5u": at, "jwk": as_jwk("evil"), "x5c": [public_pem("evil").decode()]}
        claims = {"iss": issuer.url, "aud": "oracle", "sub": "anna", "exp": time.time() + 300}
        with pytest.raises(BadTokenError, match="signature"):
            await tokens.user_of(jwt.encode(claims, private_key("evil"), algorithm="RS256", headers=header))
        critical = {"kid": "one", "crit": ["exp-next"], "exp-next": 1}
        with pytest.raises(BadTokenError):  # what must be understood is not
            await tokens.user_of(jwt.encode(claims, private_key("one"), algorithm="RS256", headers=critical))
        assert evil.asked == []


async def test_a_key_for_encryption_signs_nothing(issuer, tokens):
    issuer.answers[KEYS_PATH] = (
        200,
        {},
        json.dumps({"keys": [as_jwk("one") | {"use": "enc"}, as_jwk("two")]}).encode(),
    )
    with pytest.raises(BadTokenError, match="is not known"):
        await tokens.user_of(issuer.token())
    assert (await tokens.user_of(issuer.token(kid="two", algorithm="RS256"))).name == "corp:anna"


@pytest.mark.parametrize(
    "sub", ["a:b", "a/../b", "corp:anna", "\u00e4", "a\u0308", "a" * 250, "\U0001f642", "a b", "."]
)
async def test_the_user_is_the_whole_sub_as_it_is(issuer, tokens, sub):
    assert (await tokens.user_of(issuer.token(sub=sub))).name == f"corp:{sub}"


@pytest.mark.parametrize(
    "sub", ["a\u200bb", "\u202eanna", "a\u2028b", "\ufeffanna", "a\u00a0b", "\ud800", "a\0b"], ids=ascii
)
async def test_a_user_who_looks_like_another_is_refused(issuer, tokens, sub):
    with pytest.raises(BadTokenError, match="its user"):
        await tokens.user_of(_signed(issuer, sub=sub))


async def test_unknown_keys_that_come_on_and_on_are_asked_for_every_half_minute(issuer, tokens, clock):
    key = private_key("one")
    some = [issuer.token(kid=f"k{n}", key=key, algorithm="RS256") for n in range(10)]
    for n in range(1000):
        clock.now_s += 0.1
        with pytest.raises(BadTokenError):
            await tokens.user_of(some[n % 10])
        await _asked(tokens)
    assert issuer.fetches == 4


async def test_clocks_may_differ_by_a_minute(issuer, tokens):
    now = time.time()
    for claims in ({"exp": now - 50}, {"nbf": now + 50, "iat": now + 50}):
        assert (await tokens.user_of(issuer.token(**claims))).name == "corp:anna"


async def test_nothing_is_asked_of_an_issuer_before_the_first_token(issuer, tokens):
    assert repr(tokens)
    assert issuer.asked == []


async def test_keys_that_were_rotated_are_found_after_a_pause(issuer, tokens, clock):
    await tokens.user_of(issuer.token())
    issuer.keys = {"two": "ES256"}
    clock.now_s += 29
    with pytest.raises(BadTokenError, match="is not known"):
        await tokens.user_of(issuer.token(kid="two"))
    assert issuer.fetches == 1
    clock.now_s += 1
    assert (await tokens.user_of(issuer.token(kid="two"))).name == "corp:anna"
    with pytest.raises(BadTokenError, match="is not known"):
        await tokens.user_of(issuer.token(kid="one"))
    assert issuer.fetches == 2


async def test_an_issuer_that_is_down_at_the_start_is_asked_again_after_a_pause(clock):
    with issuing(is_up=False) as issuer, capture_logs() as logs:
        tokens = checker(issuer, clock)
        for _ in range(3):
            with pytest.raises(BadTokenError, match="or its issuer does not answer"):
                await tokens.user_of(issuer.token())
        assert [(each["event"], each["issuer"]) for each in logs] == [("issuer.unreachable", "corp")]
        issuer.start()
        with pytest.raises(BadTokenError):
            await tokens.user_of(issuer.token())
        clock.now_s += 30
        assert (await tokens.user_of(issuer.token())).name == "corp:anna"


async def test_the_last_keys_hold_while_an_issuer_is_down(issuer, tokens, clock):
    await tokens.user_of(issuer.token())
    issuer.stop()
    for _ in range(3):
        clock.now_s += 100_000
        assert (await tokens.user_of(issuer.token())).name == "corp:anna"
        await _asked(tokens)
    issuer.keys = {"two": "RS256"}
    issuer.start()
    clock.now_s += 300
    assert (await tokens.user_of(issuer.token(kid="one", algorithm="RS256"))).name == "corp:anna"
    await _asked(tokens)  # who has a known key does not wait for the next ones
    with pytest.raises(BadTokenError, match="is not known"):
        await tokens.user_of(issuer.token(kid="one", algorithm="RS256"))


async def _asked(tokens: IssuerTokens) -> None:
    for task in [each for each in asyncio.all_tasks() if each.get_name() == "issuer"]:
        await task


async def test_a_thousand_unknown_keys_at_once_are_one_question(issuer, tokens):
    key = private_key("one")
    odd = [issuer.token(kid=f"k{n}", key=key, algorithm="RS256") for n in range(20)]
    known = issuer.token()

    async def name(token: str) -> str:
        try:
            return (await tokens.user_of(token)).name
        except BadTokenError as error:
            return str(error)[:7]

    found = await asyncio.gather(*(name(token) for token in [known, *odd * 50, known]))
    assert found == ["corp:anna", *["the key"] * 1000, "corp:anna"]
    assert (issuer.fetches, issuer.asked.count(KEYS_PATH)) == (1, 1)


async def test_nobody_waits_for_a_slow_issuer_longer_than_the_limit(issuer, tokens, clock, monkeypatch):
    monkeypatch.setattr(issuers_module, "MOST_WAIT_S", 0.02)
    issuer.gate.clear()
    for _ in range(2):
        with pytest.raises(BadTokenError, match="or its issuer does not answer"):
            await tokens.user_of(issuer.token())
        clock.now_s += 1_000  # it is not asked a second time while it has not answered
    issuer.gate.set()
    await _asked(tokens)
    assert issuer.fetches == 1


LARGE = b'{"keys": [' + b" " * 1_100_000 + b"]}"


@pytest.mark.parametrize(
    ("path", "answer", "problem"),
    [
        pytest.param("discovery", (500, {}, b""), "it answers", id="failing"),
        pytest.param("discovery", (200, {}, b"<html>"), "", id="no JSON"),
        pytest.param("discovery", (200, {}, b"[]"), "no JSON object", id="a list"),
        pytest.param("discovery", (200, {}, b'{"issuer":"https://evil.example"}'), "another issuer", id="another one"),
        pytest.param("discovery", (302, {"Location": "/elsewhere"}, b""), "302", id="redirected"),
        pytest.param("keys", (200, {}, LARGE), "too large", id="large"),
        pytest.param("keys", (307, {"Location": "/keys2"}, b""), "307", id="keys redirected"),
        pytest.param("keys", (200, {}, b'{"keys": {"one": 1}}'), "", id="an object of keys"),
        pytest.param("keys", (200, {}, b'{"keys": [7, null, "a"]}'), "", id="keys of text"),
        pytest.param("keys", (200, {}, b"[" * 50_000), "", id="deep"),
        pytest.param("keys", (200, {}, b'{"keys": []}'), "", id="no keys"),
        pytest.param("keys", (200, {}, b'{"keys": [{"kty": "RSA"}]}'), "", id="half a key"),
        pytest.param("keys", (200, {"Content-Encoding": "gzip"}, b"\x1f\x8b"), "", id="compressed"),
        pytest.param("keys", (404, {}, b""), "404", id="gone"),
    ],
)
async def test_what_an_issuer_answers_wrongly_is_logged_and_changes_nothing(
    issuer, tokens, clock, path, answer, problem
):
    await tokens.user_of(issuer.token())
    issuer.answers[issuer.discovery_path if path == "discovery" else KEYS_PATH] = answer
    clock.now_s += 300
    with capture_logs() as logs:
        await tokens.user_of(issuer.token())
        await _asked(tokens)
    assert [each["event"] for each in logs] == ["issuer.unreachable"]
    assert problem in logs[0]["problem"]
    assert (await tokens.user_of(issuer.token())).name == "corp:anna"


@pytest.mark.parametrize(
    "address", ["http://keys.example/keys", "file:///etc/passwd", "https://", None, 7, "https://a b"]
)
async def test_keys_come_by_https_or_from_this_machine(issuer, tokens, address):
    document = {"issuer": issuer.url, "jwks_uri": address}
    issuer.answers[issuer.discovery_path] = (200, {}, json.dumps(document).encode())
    with capture_logs() as logs, pytest.raises(BadTokenError):
        await tokens.user_of(issuer.token())
    assert "is no https address" in logs[0]["problem"]


async def test_a_secret_among_the_keys_is_not_used(issuer, tokens):
    secret = b"0123456789abcdef" * 2
    odd = {"kty": "oct", "kid": "shared", "k": jwt.utils.base64url_encode(secret).decode()}
    issuer.answers[KEYS_PATH] = (200, {}, json.dumps({"keys": [odd, as_jwk("one")]}).encode())
    assert (await tokens.user_of(issuer.token())).name == "corp:anna"
    with pytest.raises(BadTokenError, match="algorithm"):
        await tokens.user_of(issuer.token(kid="shared", key=secret, algorithm="HS256"))


@pytest.mark.parametrize(
    ("claim", "claims", "is_operator"),
    [
        ("groups", {"groups": ["users", "ops"]}, True),
        ("groups", {"groups": "ops"}, True),
        ("groups", {"groups": "ops-not"}, False),
        ("groups", {"groups": {"ops": 1}}, False),
        ("groups", {"groups": [["ops"], {"ops": True}, None, 7]}, False),
        ("groups", {"groups": True}, False),
        ("groups", {"groups": 7}, False),
        ("groups", {}, False),
        ("realm.roles", {"realm": {"roles": ["ops"]}}, True),
        ("realm.roles", {"realm": ["ops"]}, False),
        ("https://example.com/roles", {"https://example.com/roles": ["ops"]}, True),
    ],
)
async def test_operators_are_those_with_a_claim(issuer, clock, claim, claims, is_operator):
    tokens = checker(issuer, clock, operators=((claim, "ops"),))
    assert (await tokens.user_of(issuer.token(**claims))).is_operator is is_operator


async def test_users_of_two_issuers_never_meet(issuer, clock):
    with issuing() as other:
        both = [Issuer("corp", issuer.url, ("oracle",)), Issuer("partner", other.url, ("oracle",))]
        tokens = IssuerTokens(both, clock=clock)
        assert (await tokens.user_of(issuer.token())).name == "corp:anna"
        assert (await tokens.user_of(other.token())).name == "partner:anna"
        other.keys = {"else": "ES256"}
        with pytest.raises(BadTokenError, match="signature"):  # of a key of the same name, at the other
            await tokens.user_of(issuer.token(iss=other.url, key=private_key("evil")))


async def test_a_bearer_token_of_an_issuer_is_a_caller(issuer, tokens):
    authenticator = Authenticator(
        tokens={"fixed": "bert"}, jwt_secret="s" * 32, operators=("corp:olga",), issuers=tokens, reserved=("corp",)
    )

    def header(token: str) -> list[tuple[bytes, bytes]]:
        return [(b"authorization", f"Bearer {token}".encode())]

    assert await authenticator.caller(header(issuer.token())) == Caller("corp:anna")
    assert await authenticator.caller(header(issuer.token(sub="olga"))) == Caller("corp:olga", is_operator=True)
    assert await authenticator.caller(header("fixed")) == Caller("bert")
    assert await authenticator.caller(header(jwt.encode({"sub": "carl"}, "s" * 32))) == Caller("carl")
    with pytest.raises(UnauthorizedError, match="A valid bearer token is required"):
        await authenticator.caller(header(issuer.token(filler="x" * 20_000)))
    with pytest.raises(UnauthorizedError, match=r"The bearer token is not valid: it has expired\."):
        await authenticator.caller(header(issuer.token(exp=time.time() - 100)))
    with pytest.raises(UnauthorizedError):  # nobody else is called as the issuer's users are
        await authenticator.caller(header(jwt.encode({"sub": "corp:anna"}, "s" * 32)))


@given(st.one_of(st.text(max_size=60), st.from_regex(r"[\w-]{0,20}\.[\w-]{0,20}\.[\w-]{0,20}", fullmatch=True)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_for_a_token_is_more_than_refused(issuer, text):
    with pytest.raises(BadTokenError):
        asyncio.run(IssuerTokens([Issuer("corp", issuer.url, ("oracle",))]).user_of(text))
