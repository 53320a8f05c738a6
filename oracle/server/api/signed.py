"""JSON Web Tokens: what is wrong with one, and those that are signed with a shared secret (HS256).

Loaded only where there are such tokens: PyJWT loads `cryptography` where that is installed.
"""

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
        secret: of the signatures.
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
        try:
            claims = jwt.decode(
                token,
                self._key,
                algorithms=["HS256"],
                issuer=self._issuer,
                leeway=0 if self._issuer is None else LEEWAY_S,
                # There is no audience to compare with: the secret is that of two parties.
                options={"require": ["sub"] if self._issuer is None else ["exp", "iss", "sub"], "verify_aud": False},
            )
        except BAD_TOKEN as error:
            raise BadTokenError(told(error)) from None
        return claims["sub"]

    async def named(self, token: str) -> NamedUser:
        """The same as a user."""
        return NamedUser(str(self.user_of(token)))


def told(error: Exception) -> str:
    """What is wrong with a token, without a word of it."""
    if isinstance(error, jwt.MissingRequiredClaimError):
        return f"it has no {error.claim!r}"
    return _TOLD.get(type(error), "it is not formed as it must be")
