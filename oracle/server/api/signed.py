"""JSON Web Tokens: what is wrong with one, and those that are signed with a shared secret (HS256).

Loaded only where there are such tokens: PyJWT loads `cryptography` where that is installed.
"""

from collections.abc import Mapping
from typing import Any, Final

import jwt

from oracle.server.api.named import BadTokenError, NamedUser

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
