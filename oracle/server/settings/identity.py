"""Who asks, as the operator has set it: issuers of tokens, and chat backends that name their users.

Names of issuers and backends stand before a colon in the names of their users, so no other user's name may begin so.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final, TypeGuard

from bt_runtime.text.data import dataclass
from oracle.server.settings.fields import Settings
from oracle.server.settings.reading import SettingsError

_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEADER: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
_TAKEN: Final = frozenset({"authorization", "cookie", "host", "content-length", "content-type", "transfer-encoding"})
_GUARDED: Final = re.compile(
    r"(https://[^\s@#/?]+|http://(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?)([/?][^\s#]*)?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Issuer:
    """One that signs tokens of users.

    Args:
        name: stands before the names of its users: `name:sub`.
        url: exactly what its tokens have as `iss`.
        audiences: a token must be for one of them.
        operators: claims and values: who has one of them is an operator.
    """

    name: str
    url: str
    audiences: tuple[str, ...]
    operators: tuple[tuple[str, ...], ...] = ()


def check_callers(settings: Settings) -> tuple[Issuer, ...]:
    """The issuers, if all that is set of callers can be used, and no two of them have the same name.

    Raises:
        SettingsError: with a sentence for each mistake.
    """
    issuers = _read_issuers(settings)
    if problems := list(_problems(settings, issuers)):
        raise SettingsError("\n".join(problems))
    return issuers


def _read_issuers(settings: Settings) -> tuple[Issuer, ...]:
    urls: dict[str, str] = {}
    for entry in settings.oidc_issuers:
        name, _, url = entry.partition("=")
        if not _NAME.fullmatch(name) or not is_guarded(url) or name in urls or url in urls.values():
            raise SettingsError(
                "ORACLE_OIDC_ISSUERS must be entries like 'name=https://login.example.com/realms/team', each name and "
                f"address once, https except on this machine, not {entry[:200]!r}"
            )
        urls[name] = url
    meant = _of_issuers("ORACLE_OIDC_AUDIENCES", settings.oidc_audiences, urls, form="name=audience")
    powers = _of_issuers("ORACLE_OIDC_OPERATORS", settings.oidc_operators, urls, form="name=claim=value")
    if missing := [name for name in urls if not meant[name]]:
        raise SettingsError(f"ORACLE_OIDC_AUDIENCES must say what tokens are for, as '{missing[0]}=audience'")
    return tuple(
        Issuer(name, url, tuple(audience for (audience,) in meant[name]), powers[name]) for name, url in urls.items()
    )


def _of_issuers(
    variable: str, entries: Sequence[str], names: Collection[str], *, form: str
) -> dict[str, tuple[tuple[str, ...], ...]]:
    found: dict[str, tuple[tuple[str, ...], ...]] = dict.fromkeys(names, ())
    for entry in entries:
        name, *rest = entry.split("=", form.count("="))
        if name not in found or len(rest) < form.count("=") or not all(rest):
            raise SettingsError(f"{variable} must be '{form}' with a name of ORACLE_OIDC_ISSUERS, not {entry[:200]!r}")
        found[name] = (*found[name], tuple(rest))
    return found


def is_guarded(url: object) -> TypeGuard[str]:
    """Whether what an address answers can be trusted to come from there: by https, or from this machine."""
    return isinstance(url, str) and url.isascii() and url.isprintable() and _GUARDED.fullmatch(url) is not None


def _problems(settings: Settings, issuers: Sequence[Issuer]) -> Iterator[str]:
    backends, users = settings.chat_backends, set(settings.tokens.values())
    named = {each.name for each in issuers}
    token_header, user_header = settings.user_token_header, settings.user_header
    for name in backends:
        if not _NAME.fullmatch(name) or name not in users or name in named:
            yield (
                "ORACLE_CHAT_BACKENDS must be users of ORACLE_TOKENS whose names are letters, digits, '.', '_' and '-' "
                f"and no issuer's, not {name[:200]!r}"
            )
    for variable, header in (("ORACLE_USER_TOKEN_HEADER", token_header), ("ORACLE_USER_HEADER", user_header)):
        if header is not None and (not _HEADER.fullmatch(header) or header.lower() in _TAKEN):
            yield f"{variable} must be the name of a header of its own, like 'X-User-Id', not {header[:200]!r}"
    if token_header is not None and not issuers:
        yield "ORACLE_OIDC_ISSUERS must name the issuer whose tokens are in the header of ORACLE_USER_TOKEN_HEADER"
    if backends and not (settings.openwebui_jwt_secret or token_header or user_header):
        yield (
            "ORACLE_CHAT_BACKENDS needs a way to name users: ORACLE_OPENWEBUI_JWT_SECRET, ORACLE_USER_TOKEN_HEADER or "
            "ORACLE_USER_HEADER; without one all users of a backend would be the same"
        )
    for name in (*backends, *named):
        if any(user.startswith(f"{name}:") for user in users):
            yield f"ORACLE_TOKENS must have no user that begins with '{name}:', as the users of {name!r} do"
