"""JSON Web Tokens: what is wrong with one, and those that are signed with a shared secret (HS256).

Loaded only where there are such tokens: PyJWT loads `cryptography` where that is installed.
"""

from typing import Any, Final

import jwt

from oracle.server.api.named import BadTokenError

LEEWAY_S: Final = 60
"""How far clocks of others may differ."""
BAD_TOKEN: Final = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)
"""What reading a token may raise: its claims may be anything."""


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


def told(error: Exception) -> str:
    """What is wrong with a token, without a word of it."""
    match error:
        case jwt.ExpiredSignatureError():
            return "it has expired"
        case jwt.ImmatureSignatureError():
            return "it is not valid yet"
        case jwt.InvalidAudienceError():
            return "it is for another audience ('aud')"
        case jwt.InvalidIssuerError():
            return "it is of another issuer ('iss')"
        case jwt.MissingRequiredClaimError(claim=claim):
            return f"it has no {claim!r}"
        case jwt.InvalidAlgorithmError():
            return "it is signed with another algorithm ('alg')"
        case jwt.InvalidSignatureError():
            return "its signature is wrong"
    return "it is not formed as it must be"
