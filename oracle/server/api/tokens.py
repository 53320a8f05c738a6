"""JSON Web Tokens: those that are signed with a shared secret (HS256), and access tokens of OpenID Connect issuers.

Loaded only where there are such tokens: PyJWT loads `cryptography` where that is installed.

Rules for issuers:

- The algorithms are pinned, and each key is used with its own alone. `iss`, `aud`, `exp` and `sub` are required; clocks
  may differ by 60 s.
- An issuer is asked for its keys when they are needed, in a thread, by one request at a time and at most once in 30 s,
  whatever tokens come. Nobody waits for it longer than 5 s; while it does not answer, its last keys hold.
- What is wrong with a token may be told to whoever has sent it; the token itself is in no message and no log.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import jwt
import structlog
from jwt import PyJWK, PyJWKClient, PyJWKClientError

from oracle.core.encoding import from_json
from oracle.server.api.named import BadTokenError, NamedUser, is_name
from oracle.server.settings.identity import Issuer, is_guarded

log = structlog.get_logger(__name__)


LEEWAY_S: Final = 60
"""How far clocks of others may differ."""
BAD_TOKEN: Final = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)
"""What reading a token may raise: its claims may be anything."""
_TOLD: Final[dict[type[Exception], str]] = {
    jwt.ExpiredSignatureError: "it has expired",
    jwt.ImmatureSignatureError: "it is not valid yet",
    jwt.InvalidAudienceError: "it is for another audience ('aud')",
    jwt.InvalidIssuerError: "it is of another issuer ('iss')",
    jwt.InvalidAlgorithmError: "it is signed with another algorithm ('alg')",
    jwt.InvalidSignatureError: "its signature is wrong",
}


class SignedTokens:
    """Reads the users of tokens that are signed with a secret.

    Args:
        secret: the secret that both sides sign with.
        issuer: who signs, as `iss` says it, for a short time and with a clock of its own; `None`: any, and times are
            checked where they are given.
    """

    def __init__(self, secret: str, *, issuer: str | None = None) -> None:
        # HMAC itself fills a short key up with zeros (RFC 2104 2), so this is the same key; PyJWT would warn at each
        # token, where the settings are checked once, at the start.
        self._key = secret.encode("utf-8", errors="surrogatepass").ljust(32, b"\0")
        self._issuer = issuer

    def user_of(self, token: str) -> Any:  # noqa: ANN401  whatever the claim is
        """The `sub` of a token.

        Raises:
            BadTokenError: it is not valid.
        """
        # There is no audience to compare with: the secret is that of two parties.
        if self._issuer is None:
            return claims_of(token, self._key, "HS256", require=["sub"])["sub"]
        require = ["exp", "iss", "sub"]
        return claims_of(token, self._key, "HS256", require=require, issuer=self._issuer, leeway=LEEWAY_S)["sub"]

    async def named(self, token: str) -> NamedUser:
        """The same as a user."""
        return NamedUser(str(self.user_of(token)))


def claims_of(token: str, key: Any, algorithm: str, *, require: list[str], **expected: Any) -> Mapping[str, Any]:  # noqa: ANN401  PyJWT's
    """The claims of a token.

    Args:
        token: the JSON Web Token, as text.
        key: the key that its signature is checked with.
        algorithm: the only one that is taken.
        require: claims that must be there.
        expected: `issuer`, `audience` and `leeway` as PyJWT has them; without an audience none is compared.

    Raises:
        BadTokenError: it is not valid; the message says what is wrong without a word of it.
    """
    try:
        read = jwt.decode_complete(
            token,
            key,
            algorithms=[algorithm],
            options={"require": require, "verify_aud": "audience" in expected},
            **expected,
        )
    except jwt.MissingRequiredClaimError as error:
        raise BadTokenError(f"it has no {error.claim!r}") from None
    except BAD_TOKEN as error:
        raise BadTokenError(_TOLD.get(type(error), "it is not formed as it must be")) from None
    if "crit" in read["header"]:  # PyJWT looks at it since 2.12
        raise BadTokenError("its header says that something must be understood ('crit') which is not")
    claims: Mapping[str, Any] = read["payload"]
    return claims


ALGORITHMS: Final = ("RS256", "ES256", "EdDSA")
MOST_WAIT_S: Final = 5.0
PAUSE_S: Final = 30.0
_FRESH_S: Final = 300.0
_MOST_BYTES: Final = 1_000_000


class IssuerTokens:
    """Finds the users of access tokens.

    Args:
        issuers: whose tokens are taken.
        clock: monotonic seconds.
    """

    def __init__(self, issuers: Sequence[Issuer], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuers = {each.url: (each, IssuerKeys(each, clock=clock)) for each in issuers}

    async def user_of(self, token: str) -> NamedUser:
        """The user of a token, which may stand behind `Bearer`.

        Raises:
            BadTokenError: it is not valid, or cannot be checked at the moment.
        """
        token = token.removeprefix("Bearer ").strip()
        try:
            read = jwt.decode_complete(token, options={"verify_signature": False})
        except BAD_TOKEN:
            raise BadTokenError("it is no JSON Web Token") from None
        header, url = read["header"], read["payload"].get("iss")
        if not isinstance(url, str) or url not in self._issuers:
            raise BadTokenError("its issuer ('iss') is not known to this service (ORACLE_OIDC_ISSUERS)")
        if header.get("alg") not in ALGORITHMS:
            raise BadTokenError(f"its algorithm is not one of {', '.join(ALGORITHMS)}")
        kid = header.get("kid")
        if not isinstance(kid, str) or not kid:
            raise BadTokenError("it does not say which key has signed it ('kid')")
        issuer, keys = self._issuers[url]
        key = await keys.find(kid)
        if key is None:
            raise BadTokenError("the key that has signed it ('kid') is not known, or its issuer does not answer")
        return _user(token, key, issuer)


def _user(token: str, key: PyJWK, issuer: Issuer) -> NamedUser:
    named = {"issuer": issuer.url, "audience": issuer.audiences, "leeway": LEEWAY_S}
    claims = claims_of(token, key, key.algorithm_name, require=["exp", "iss", "aud", "sub"], **named)
    name = f"{issuer.name}:{claims['sub']}"
    if not claims["sub"] or not is_name(name):
        raise BadTokenError("its user ('sub') is not a text of printable characters, or is too long")
    return NamedUser(name, is_operator=any(_has(claims, claim, value) for claim, value in issuer.operators))


def _has(claims: Mapping[str, Any], claim: str, value: str) -> bool:
    """Whether a claim is a text or a list that has it; the dots of its name may lead into objects."""
    found: Any = claims
    for part in (claim,) if claim in claims else claim.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return value in found if isinstance(found, list) else found == value


class IssuerKeys:
    """The keys of an issuer, as it last published them."""

    def __init__(self, issuer: Issuer, *, clock: Callable[[], float]) -> None:
        self._issuer = issuer
        self._clock = clock
        self._published = _Published(issuer.url)
        self._keys: Mapping[str, PyJWK] = {}
        self._asked_s = float("-inf")
        self._asking: asyncio.Task[None] | None = None

    async def find(self, kid: str) -> PyJWK | None:
        """The key of this name; `None` if it is unknown. Keys that are known are not waited for."""
        key, age_s = self._keys.get(kid), self._clock() - self._asked_s
        if self._asking is None and age_s >= (PAUSE_S if key is None else _FRESH_S):
            self._asked_s = self._clock()
            self._asking = asyncio.create_task(self._ask(), name="issuer")
        if key is not None or self._asking is None:
            return key
        await asyncio.wait({self._asking}, timeout=MOST_WAIT_S)
        return self._keys.get(kid)

    async def _ask(self) -> None:
        try:
            keys = await asyncio.to_thread(self._published.get_signing_keys)
            self._keys = {str(each.key_id): each for each in keys if each.algorithm_name in ALGORITHMS}
        except Exception as error:  # noqa: BLE001  whatever it answers: the keys that are known stay
            log.warning(
                "issuer.unreachable", issuer=self._issuer.name, problem=str(error)[:300] or type(error).__name__
            )
        finally:
            self._asking = None


class _Published(PyJWKClient):
    """Reads the keys where the issuer's discovery document says, within bounds of size and time."""

    def __init__(self, url: str) -> None:
        super().__init__(f"{url.rstrip('/')}/.well-known/openid-configuration", cache_jwk_set=False)
        self._url = url

    def fetch_data(self) -> dict[str, Any]:
        """The set of keys.

        Raises:
            PyJWKClientError: what the issuer answers cannot be used.
        """
        until_s = time.monotonic() + MOST_WAIT_S
        found = _read(self.uri, until_s=until_s)
        if found.get("issuer") != self._url:
            raise PyJWKClientError("its discovery document is of another issuer")
        if not is_guarded(address := found.get("jwks_uri")):
            raise PyJWKClientError("the 'jwks_uri' of its discovery document is no https address")
        return _read(address, until_s=until_s)


def _read(url: str, *, until_s: float) -> dict[str, Any]:
    import httpx2  # noqa: PLC0415  only where there are issuers

    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    data = bytearray()
    with httpx2.stream("GET", url, headers=headers, timeout=MOST_WAIT_S, follow_redirects=False) as response:
        if response.status_code != httpx2.codes.OK:
            raise PyJWKClientError(f"it answers {url} with {response.status_code}")
        for piece in response.iter_raw():
            data += piece
            if len(data) > _MOST_BYTES or time.monotonic() > until_s:
                raise PyJWKClientError(f"what it answers to {url} is too large, or takes too long")
    found = from_json(bytes(data))
    if not isinstance(found, dict):
        raise PyJWKClientError(f"what it answers to {url} is no JSON object")
    return found
