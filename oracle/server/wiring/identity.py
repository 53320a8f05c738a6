"""Who may ask, according to the settings, and the vault of each user; PyJWT is loaded where it checks tokens."""

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from oracle.server.api.auth import Authenticator
from oracle.server.api.named import SIGNED, BadTokenError, ChatBackends, NamedUser, Read, by_word
from oracle.server.settings.fields import Settings
from oracle.server.settings.identity import Issuer, check_callers
from oracle.server.settings.reading import SettingsError
from oracle.tools import ToolRegistry

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

        from oracle.server.api.tokens import IssuerTokens  # noqa: PLC0415

        if not has_crypto:
            raise SettingsError(
                "ORACLE_OIDC_ISSUERS needs a package that is not installed (cryptography); install it with "
                "`pip install 'oracle-bt[oidc]'`"
            )
        issuers = IssuerTokens(found)
    if settings.openwebui_jwt_secret is not None:
        from oracle.server.api.tokens import SignedTokens  # noqa: PLC0415

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


MOST_KEPT: Final = 200
"""Users whose search index stays in memory when they have no query under way."""

_PLAIN = re.compile(rb"[a-z0-9_-]")
_LONGEST_NAME = 120


def folder_name(user_id: str) -> str:
    """The name of a user's folder: never another user's, also where a file system ignores case.

    `anna` is `anna`, `Anna@x` is `%41nna%40x`, and a long one is `=` and a digest.
    """
    data = user_id.encode("utf-8", errors="surrogatepass")
    name = "".join(chr(byte) if _PLAIN.match(bytes([byte])) else f"%{byte:02x}" for byte in data)
    return name if 0 < len(name) <= _LONGEST_NAME else f"={hashlib.sha256(data).hexdigest()}"


class UserTools:
    """The tools of each user.

    Args:
        vaults: the folder of the users' folders.
        make: makes the tools over a vault's folder.
        most_kept: users whose tools are kept ready.
    """

    def __init__(self, vaults: Path, *, make: Callable[[Path], ToolRegistry], most_kept: int = MOST_KEPT) -> None:
        self._vaults = vaults
        self._make = make
        self._most_kept = most_kept
        self._recent: OrderedDict[str, ToolRegistry] = OrderedDict()
        # Who still has a query under way is found here, kept or not: one vault has one index.
        self._alive: WeakValueDictionary[str, ToolRegistry] = WeakValueDictionary()

    def of(self, user_id: str) -> ToolRegistry:
        """The tools of a user.

        Raises:
            ToolSetupError: the user's folder cannot be used.
        """
        found = self._alive.get(user_id)
        if found is None:
            found = self._alive[user_id] = self._make(self._vaults / folder_name(user_id))
        self._recent[user_id] = found
        self._recent.move_to_end(user_id)
        if len(self._recent) > self._most_kept:
            self._recent.popitem(last=False)
        return found
