"""Authentication: bearer tokens and the users they stand for.

Rules:

- Three kinds of bearer tokens: the operator's fixed ones; JWTs signed with HS256, whose `sub` is the user; and access
  tokens of issuers (`tokens.py`). The algorithms are pinned: a token does not choose how it is checked.
- With none configured there is the one user `local`, and no header changes that.
- A fixed token may be a chat backend's, which names the user in a header (`named.py`).
- Users of issuers and backends are `name:user`; no user of another kind has a name that begins so.
- No token is logged. Why a token of ours was refused is not sent to the client; of an issuer's, it is.
"""

import hashlib
import hmac
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import structlog

from bt_runtime.text.data import dataclass
from oracle.core.errors import UserError
from oracle.server.api.named import LONGEST_USER, BadTokenError, ChatBackends, Headers, NamedUser, is_name
from oracle.server.settings.fields import LOCAL_USER

if TYPE_CHECKING:  # loaded where there are such tokens
    from oracle.server.api.tokens import IssuerTokens

log = structlog.get_logger(__name__)

_LONGEST_TOKEN = 16_384
_REQUIRED = "A valid bearer token is required (Authorization: Bearer …)."


class UnauthorizedError(UserError):
    """The request has no valid bearer token; the message is for the client."""


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
        issuers: check access tokens; `None`: there are none.
        backends: chat backends, among the users of fixed tokens.
        reserved: names before whose colon no user of another kind may have a name.
    """

    def __init__(
        self,
        *,
        tokens: Mapping[str, str] | None = None,
        jwt_secret: str | None = None,
        operators: Collection[str] = (),
        issuers: "IssuerTokens | None" = None,
        backends: ChatBackends | None = None,
        reserved: Collection[str] = (),
    ) -> None:
        self._signed = None
        if jwt_secret:
            from oracle.server.api.tokens import SignedTokens  # noqa: PLC0415  where there are such tokens

            self._signed = SignedTokens(jwt_secret)
        self._operators = frozenset(operators)
        # Digests have one length, so that the time of a comparison does not depend on the length of a token.
        self._fixed = [(_digest(token), self._caller(NamedUser(user))) for token, user in (tokens or {}).items()]
        self._issuers = issuers
        self._backends = ChatBackends() if backends is None else backends
        self._reserved = tuple(f"{name}:" for name in reserved)
        self.is_required = bool(self._fixed or self._signed or self._issuers)
        """Whether requests need a token; without authentication every caller is the user `local`."""

    @property
    def has_issuers(self) -> bool:
        """Whether access tokens of issuers are taken."""
        return self._issuers is not None

    def __repr__(self) -> str:
        return f"Authenticator(tokens={len(self._fixed)}, jwt={self._signed is not None})"

    async def caller(self, headers: Headers, *, may_be_nobody: bool = False) -> Caller:
        """Who sent a request with these headers (names in lower case, as ASGI has them).

        Args:
            headers: all of the request.
            may_be_nobody: a chat backend may ask this for itself.

        Raises:
            UnauthorizedError: there is no valid token.
            NamingError: a user is named who may not be, or none who must be.
        """
        if not self.is_required:
            return self._caller(NamedUser(LOCAL_USER))
        token = _bearer([value for name, value in headers if name == b"authorization"])
        caller = self._of_fixed(token)
        if caller is not None and caller.user_id in self._backends.names:
            named = await self._backends.user_of(caller.user_id, headers, may_be_nobody=may_be_nobody)
            return caller if named is None else self._caller(named)
        if caller is None:
            user = self._user_of_jwt(token)
            caller = self._caller(await self._of_issuer(token) if user is None else NamedUser(user))
        self._backends.refuse_naming(headers)
        return caller

    async def _of_issuer(self, token: str) -> NamedUser:
        if self._issuers is None:
            raise UnauthorizedError(_REQUIRED)
        try:
            return await self._issuers.user_of(token)
        except BadTokenError as error:
            raise UnauthorizedError(f"The bearer token is not valid: {error}.") from None

    def _caller(self, user: NamedUser) -> Caller:
        by_name = user.is_proven and user.name in self._operators
        return Caller(user.name, is_operator=by_name or user.is_operator)

    def _of_fixed(self, token: str) -> Caller | None:
        presented, found = _digest(token), None
        for digest, caller in self._fixed:  # all of them: constant time
            if hmac.compare_digest(digest, presented):
                found = caller
        return found

    def _user_of_jwt(self, token: str) -> str | None:
        if self._signed is None:
            return None
        try:
            user = self._signed.user_of(token)
        except BadTokenError:
            return None
        problem = f"its 'sub' must be 1-{LONGEST_USER} printable characters"
        if is_name(user):
            if not user.startswith(self._reserved):
                return str(user)
            problem = "its 'sub' begins with a prefix reserved for users of a chat backend or an issuer"
        # The client gets the same answer as for any invalid token; the issuer finds the reason in the log.
        shown = repr(user)[:80] if isinstance(user, str) else type(user).__name__
        log.warning("token.refused", problem=problem, sub=shown)
        return None


def _bearer(values: Collection[bytes]) -> str:
    if len(values) != 1:
        raise UnauthorizedError(_REQUIRED)
    scheme, _, token = next(iter(values)).partition(b" ")
    token = token.strip()
    if scheme.lower() != b"bearer" or not token or len(token) > _LONGEST_TOKEN or not token.isascii():
        raise UnauthorizedError(_REQUIRED)
    return token.decode("ascii")


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", errors="surrogatepass")).digest()
