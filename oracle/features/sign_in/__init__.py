"""Sign-in to the console at an OpenID Connect issuer: authorization code with PKCE (RFC 7636)."""

from collections.abc import Iterator, Mapping
from typing import Any

from oracle.core.features import Feature, Setting


def problems(settings: Any) -> Iterator[str]:  # noqa: ANN401  the kernel's settings, which import features
    """A sentence for each entry that belongs to no issuer."""
    names = {entry.partition("=")[0] for entry in settings.oidc_issuers}
    for variable, entries in (
        ("ORACLE_OIDC_CLIENTS", settings["oidc_clients"]),
        ("ORACLE_OIDC_SCOPES", settings["oidc_scopes"]),
    ):
        for entry in entries:
            name, _, value = entry.partition("=")
            if name not in names or not value:
                yield f"{variable} must be 'name=value' with a name of ORACLE_OIDC_ISSUERS, not {entry[:200]!r}"


def by_name(entries: tuple[str, ...]) -> Mapping[str, str]:
    """The value of each `name=value`."""
    return {name: value for name, _, value in (entry.partition("=") for entry in entries)}


FEATURE = Feature(
    name="sign-in",
    summary="Lets users sign in to the console at an OpenID Connect issuer.",
    settings=(
        Setting(
            "oidc_clients",
            "Lets users sign in to the console at issuers: the console's client id there, as `name=client-id,…`.",
            kind="names",
            default=(),
        ),
        Setting(
            "oidc_scopes",
            "Scopes that the sign-in asks an issuer for, as `name=openid other,…`; the default is `openid`.",
            kind="names",
            default=(),
        ),
    ),
    checks="oracle.features.sign_in:problems",
    open_calls=("oracle.features.sign_in.calls:router",),
)
