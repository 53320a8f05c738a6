"""Authentication: bearer tokens and the users they stand for.

Rules:

- Two kinds of bearer tokens: the operator's fixed ones, and JWTs signed with HS256, whose `sub` is the user. The
  algorithm is pinned: a token does not choose how it is checked.
- With neither configured there is the one user `local`, and no header changes that.
- The reason why a token was refused is not sent to the client, and no token is logged.
"""

import hashlib
import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import jwt
import structlog

from oracle.core.errors import UserError
from oracle.server.settings.fields import LOCAL_USER

log = structlog.get_logger(__name__)

_LONGEST_USER = 255
_LONGEST_TOKEN = 16_384


class UnauthorizedError(UserError):
    """The request has no valid bearer token."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request.

    Args:
        user_id: the user.
        is_operator: may see all runs.
    """

    user_id: str
    is_operator: bool = False

    @property
    def reads_runs_of(self) -> str | None:
        """The user whose runs the caller may look at; `None`: all users."""
        return None if self.is_operator else self.user_id


class Authenticator:
    """Finds the user of a bearer token.

    Args:
        tokens: users by fixed token.
        jwt_secret: of JWTs; `None`: there are none.
        operators: users who may see all runs.
    """

    def __init__(
        self,
        *,
        tokens: Mapping[str, str] | None = None,
        jwt_secret: str | None = None,
        operators: Collection[str] = (),
    ) -> None:
        # Digests have one length, so that the time of a comparison does not depend on the length of a token.
        self._users = [(_digest(token), user) for token, user in (tokens or {}).items()]
        self._jwt_key = _key(jwt_secret) if jwt_secret else None
        self._operators = frozenset(operators)

    def __repr__(self) -> str:
        return f"Authenticator(tokens={len(self._users)}, jwt={self._jwt_key is not None})"

    @property
    def is_required(self) -> bool:
        """Whether requests need a token; without authentication every caller is the user `local`."""
        return bool(self._users) or self._jwt_key is not None

    def caller(self, headers: Collection[tuple[bytes, bytes]]) -> Caller:
        """Who sent a request with these headers (names in lower case, as ASGI has them).

        Raises:
            UnauthorizedError: there is no valid token.
        """
        if not self.is_required:
            return self._caller(LOCAL_USER)
        token = _bearer([value for name, value in headers if name == b"authorization"])
        user = self._user_of_token(token) or self._user_of_jwt(token)
        if user is None:
            raise UnauthorizedError("the bearer token is not valid")
        return self._caller(user)

    def _caller(self, user: str) -> Caller:
        return Caller(user, is_operator=user in self._operators)

    def _user_of_token(self, token: str) -> str | None:
        presented, found = _digest(token), None
        for digest, user in self._users:  # all of them: constant time
            if hmac.compare_digest(digest, presented):
                found = user
        return found

    def _user_of_jwt(self, token: str) -> str | None:
        if self._jwt_key is None:
            return None
        try:
            claims = jwt.decode(
                token,
                self._jwt_key,
                algorithms=["HS256"],
                # There is no audience to compare with: the secret is this service's own.
                options={"require": ["sub"], "verify_aud": False},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):  # claims may be anything
            return None
        user = claims["sub"]
        if isinstance(user, str) and 0 < len(user) <= _LONGEST_USER and user.isprintable():
            return user
        # The client gets the same answer as for any invalid token; the issuer finds the reason in the log.
        log.warning(
            "token.refused", problem=f"its 'sub' must be 1-{_LONGEST_USER} printable characters", sub=_shown(user)
        )
        return None


def _shown(user: object) -> str:
    return repr(user)[:80] if isinstance(user, str) else type(user).__name__


def _bearer(values: Collection[bytes]) -> str:
    if len(values) != 1:
        raise UnauthorizedError("there must be one Authorization header: Bearer and a token")
    scheme, _, token = next(iter(values)).partition(b" ")
    token = token.strip()
    if scheme.lower() != b"bearer" or not token or len(token) > _LONGEST_TOKEN or not token.isascii():
        raise UnauthorizedError("the Authorization header must be Bearer and a token")
    return token.decode("ascii")


def _key(secret: str) -> bytes:
    # HMAC itself fills a short key up with zeros (RFC 2104 2), so this is the same key; PyJWT would warn at each token,
    # where the settings are checked once, at the start.
    return secret.encode("utf-8", errors="surrogatepass").ljust(32, b"\0")


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", errors="surrogatepass")).digest()
