"""Who may ask, according to the settings; PyJWT is loaded where tokens are to be checked with it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from oracle.server.api.auth import Authenticator
from oracle.server.api.backends import ChatBackends
from oracle.server.settings.fields import Settings
from oracle.server.settings.identity import Issuer, check_callers
from oracle.server.settings.reading import SettingsError

if TYPE_CHECKING:  # loaded where they are wanted
    from oracle.server.api.issuers import IssuerTokens
    from oracle.server.api.signed import SignedTokens

_OPEN_WEBUI: Final = "open-webui"


def authenticator(settings: Settings) -> Authenticator:
    """What finds the callers. No issuer is asked for anything yet.

    Raises:
        SettingsError: what is set of callers cannot be used, or a package for it is missing.
    """
    found = check_callers(settings)
    issuers = _issuers(found) if found else None
    secret = settings.jwt_secret
    return Authenticator(
        tokens=settings.tokens,
        jwt_secret=None if secret is None else secret.get_secret_value(),
        operators=settings.operators,
        issuers=issuers,
        backends=ChatBackends(
            settings.chat_backends,
            signed=_signed(settings),
            token_header=settings.user_token_header,
            user_header=settings.user_header,
            issuers=issuers,
        ),
        reserved=(*settings.chat_backends, *(each.name for each in found)),
    )


def _signed(settings: Settings) -> "SignedTokens | None":
    if settings.openwebui_jwt_secret is None:
        return None
    from oracle.server.api.signed import SignedTokens  # noqa: PLC0415

    return SignedTokens(settings.openwebui_jwt_secret.get_secret_value(), issuer=_OPEN_WEBUI)


def _issuers(found: Sequence[Issuer]) -> "IssuerTokens":
    from jwt.algorithms import has_crypto  # noqa: PLC0415

    from oracle.server.api.issuers import IssuerTokens  # noqa: PLC0415

    if not has_crypto:
        raise SettingsError(
            "ORACLE_OIDC_ISSUERS needs a package that is not installed (cryptography); install it with "
            "`pip install 'oracle-bt[oidc]'`"
        )
    return IssuerTokens(found)
