"""Who may ask, according to the settings; PyJWT is loaded where tokens are to be checked with it."""

from collections.abc import Sequence
from typing import Final

from oracle.server.api.auth import Authenticator
from oracle.server.api.backends import SIGNED, ChatBackends, Read, by_word
from oracle.server.api.named import BadTokenError, NamedUser
from oracle.server.settings.fields import Settings
from oracle.server.settings.identity import Issuer, check_callers
from oracle.server.settings.reading import SettingsError

_OPEN_WEBUI: Final = "open-webui"


def authenticator(settings: Settings) -> Authenticator:
    """What finds the callers. No issuer is asked for anything yet.

    Raises:
        SettingsError: what is set of callers cannot be used, or a package for it is missing.
    """
    found = check_callers(settings)
    issuers, ways = None, list[tuple[str, Read]]()
    if found:
        from jwt.algorithms import has_crypto  # noqa: PLC0415

        from oracle.server.api.issuers import IssuerTokens  # noqa: PLC0415

        if not has_crypto:
            raise SettingsError(
                "ORACLE_OIDC_ISSUERS needs a package that is not installed (cryptography); install it with "
                "`pip install 'oracle-bt[oidc]'`"
            )
        issuers = IssuerTokens(found)
    if settings.openwebui_jwt_secret is not None:
        from oracle.server.api.signed import SignedTokens  # noqa: PLC0415

        secret = settings.openwebui_jwt_secret.get_secret_value()
        ways.append((SIGNED, _unlike(found, SignedTokens(secret, issuer=_OPEN_WEBUI).named)))
    if settings.user_token_header and issuers is not None:
        ways.append((settings.user_token_header, issuers.user_of))
    if settings.user_header:
        ways.append((settings.user_header, _unlike(found, by_word)))
    return Authenticator(
        tokens=settings.tokens,
        jwt_secret=None if settings.jwt_secret is None else settings.jwt_secret.get_secret_value(),
        operators=settings.operators,
        issuers=issuers,
        backends=ChatBackends(settings.chat_backends, ways=ways),
        reserved=(*settings.chat_backends, *(each.name for each in found)),
    )


def _unlike(issuers: Sequence[Issuer], read: Read) -> Read:
    """The same, but that nobody is called as the users are whom the issuers' tokens name."""
    taken = tuple(f"{each.name}:" for each in issuers)

    async def named(value: str) -> NamedUser:
        user = await read(value)
        if user.name.startswith(taken):
            raise BadTokenError("its user begins as only the users of an issuer do")
        return user

    return named
