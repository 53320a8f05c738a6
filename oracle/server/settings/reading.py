"""Reads the settings from the environment, and explains what is wrong with them."""

import os
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Final, get_args

import dotenv
from dotenv.parser import parse_stream
from pydantic import SecretStr, ValidationError

from bt_runtime.text import closest
from bt_runtime.text.phrases import truncated
from oracle.core.errors import OperatorError
from oracle.core.features import features
from oracle.server.settings.fields import PREFIX, Settings, split_address, variable_of

_LONGEST_QUOTE = 120
_OF_CLIENTS = (f"{PREFIX}TOKEN", f"{PREFIX}URL")
"""What commands that ask a service read; a service has no use for them."""
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_ADDRESS = "ANTHROPIC_BASE_URL"
_OF_THE_SDK = (*_KEYS, _ADDRESS)
_SENT_ALONG = (*_KEYS, "ANTHROPIC_CUSTOM_HEADERS")
"""What the SDK takes from the environment and sends to the address."""
_TRUSTED: Final[Mapping[str, str]] = {
    variable_of("plugins"): "which code runs",
    variable_of("domain"): "which code runs",
    variable_of("features"): "which code runs",
    **{variable_of(of.name): of.decides for each in features() for of in each.settings if of.decides},
}
"""What each of these decides: a settings file may have come with a folder from anywhere, so it cannot set them."""
_GONE: Final[Mapping[str, str]] = {
    variable_of("shadow_runs"): "shadow runs go one at a time",
    variable_of("shadow_queue"): "up to 100 ended runs may wait for their shadow run",
    variable_of("shadow_beside"): "shadow runs wait while any other run is in progress",
    variable_of("shadow_wait_s"): "shadow runs wait for as long as other runs are in progress",
    variable_of("shadow_token_budget"): "a shadow run has the budget of the run that it repeats; "
    "ORACLE_SHADOW_TOKENS_PER_HOUR limits all of them",
}
"""Settings of former versions, and what holds in their place."""
_DATABASE = variable_of("database_url")
_DATABASE_PASSWORD = "PGPASSWORD"  # noqa: S105  the name of the variable that PostgreSQL's own library reads


class SettingsError(OperatorError, ValueError):
    """Settings that cannot be used; one line for each, with the variable, the value, and what would be right."""


def read_settings(env_file: Path | None = None, **given: Any) -> Settings:  # noqa: ANN401  checked by the fields
    """Read the settings from the environment.

    Variables of the provider's SDK that are set to nothing are removed from it: the SDK would use the empty value.

    Args:
        env_file: our variables in it, but those that run code, and those of the provider's SDK are put into the
            environment first, where they are not set; all others are ignored, because the file may have come with a
            folder from anywhere. One that does not exist is empty.
        given: values that go before the environment, by field; `None` means not given.

    Raises:
        SettingsError: naming every value that cannot be used; or the file names an address to which a secret of the
            environment would be sent.
    """
    _drop_empty(os.environ)
    filed = {} if env_file is None else _ours(read_env_file(env_file))
    effective = {name: value for name, value in filed.items() if name not in os.environ}
    problems = list(_secrets_that_would_leave(effective, os.environ, str(env_file)))
    if problems:
        raise SettingsError("\n".join(problems))
    os.environ.update(effective)
    settings = _settings(given)
    if settings.llm == "anthropic" and _ADDRESS in effective and effective.keys().isdisjoint(_KEYS):
        raise SettingsError(
            f"the settings file {str(env_file)!r} sets {_ADDRESS} without a key, so the SDK would send there what it "
            f"finds of the user's own credentials; set {_KEYS[0]} in the same file, or both in the environment"
        )
    return settings


def read_env_file(env_file: Path) -> dict[str, str]:
    """The variables of a settings file, of whatever name; `$` in a value stands for itself.

    Raises:
        SettingsError: it cannot be read, or a line is not `NAME=value`.
    """
    try:
        if not env_file.is_file():
            return {}
        text = env_file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is not UTF-8 text"
        raise SettingsError(f"the settings file {str(env_file)!r} cannot be read: {reason}") from None
    _check_lines(text, env_file)
    # Not interpolated: `${ANTHROPIC_API_KEY}` in the address of a database would send the key there.
    variables = dotenv.dotenv_values(stream=StringIO(text), interpolate=False)
    return {name: value for name, value in variables.items() if value is not None and "\0" not in value}


def _ours(variables: Mapping[str, str]) -> dict[str, str]:
    """Those that a settings file may set. Blank ones count as not set, as the SDK's do in the environment."""
    return {
        name: value
        for name, value in variables.items()
        if (name.startswith(PREFIX) or name in _OF_THE_SDK)
        and name not in _TRUSTED
        and (value.strip() or name not in _OF_THE_SDK)
    }


def _secrets_that_would_leave(filed: Mapping[str, str], environ: Mapping[str, str], file: str) -> Iterator[str]:
    """A sentence for each address of a settings file that would be sent a secret which the file does not know."""
    sent = [name for name in _SENT_ALONG if environ.get(name, "").strip()]
    if _ADDRESS in filed and sent:
        yield _would_leave(_ADDRESS, _host(filed[_ADDRESS]), sent, file)
    url = filed.get(_DATABASE, "")
    if environ.get(_DATABASE_PASSWORD) and url.startswith("postgres") and not _has_password(url):
        yield _would_leave(_DATABASE, _host(url), [_DATABASE_PASSWORD], file)


def _would_leave(address: str, host: str, secrets: Sequence[str], file: str) -> str:
    return (
        f"the settings file {file!r} sets {address} to {host!r}, where {' and '.join(secrets)} of the environment "
        f"would be sent; set {address} in the environment too if that is right, or put the secret into the file beside "
        "it"
    )


def _host(url: str) -> str:
    """Where an address leads, without the password that it may contain."""
    return truncated(split_address(url).netloc.rpartition("@")[2], _LONGEST_QUOTE)


def _has_password(url: str) -> bool:
    parts = split_address(url)
    return bool(parts.password) or "password=" in parts.query


def _settings(given: Mapping[str, Any]) -> Settings:
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        # A default that follows from a wrong value is no further mistake.
        wrong = [each for each in error.errors(include_url=False) if each["type"] != "default_factory_not_called"]
        raise SettingsError("\n".join(map(_explain, wrong))) from None


def refused_variables(filed: Mapping[str, str], environ: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable of a settings file that only the environment can set, and does not set."""
    for name, what in _TRUSTED.items():
        if filed.get(name, "").strip() and name not in environ:
            yield f"{name} decides {what}, so it has no effect in a settings file; set it in the environment"


def misspelt_variables(environ: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable that looks like one of ours, or was one; others may well use our prefix."""
    known = [*map(variable_of, Settings.model_fields), *_OF_THE_SDK]
    for name in sorted(environ):
        if name in _GONE:
            yield f"{name} is no longer a setting and has no effect; remove it: {_GONE[name]}"
            continue
        near = None if name in known or name in _OF_CLIENTS else _nearest(name, known)
        if near is not None:
            yield f"{name} is not a setting and has no effect; did you mean {near}?"


def _nearest(name: str, known: Sequence[str]) -> str | None:
    """The setting of the same prefix that a variable was most likely meant to be."""
    prefix, _, rest = name.partition("_")
    rests = {other.removeprefix(f"{prefix}_"): other for other in known if other.startswith(f"{prefix}_")}
    close = closest(rest, rests)
    return rests[close] if close else None


def _drop_empty(environ: MutableMapping[str, str]) -> None:
    for name in _OF_THE_SDK:
        if name in environ and not environ[name].strip():
            del environ[name]


def _check_lines(text: str, env_file: Path) -> None:
    """Refuse what the library would only warn of, in its own words."""
    # The line is not quoted: it may hold a key.
    wrong = [
        f"line {binding.original.line} of the settings file {str(env_file)!r} is not NAME=value"
        for binding in parse_stream(StringIO(text))
        if binding.error
    ]
    if wrong:
        raise SettingsError("\n".join(wrong))


def _explain(error: Mapping[str, Any]) -> str:
    raised = error.get("ctx", {}).get("error")
    if raised is not None and PREFIX in str(raised):  # from one of our validators, which names variable and value
        return str(raised)
    if not error["loc"]:
        return str(error["msg"])
    field = str(error["loc"][0])
    if SecretStr.__name__ in str(Settings.model_fields[field].annotation):
        return f"{variable_of(field)} is blank; give it a value, or unset it"
    given = truncated(repr(error["input"]), _LONGEST_QUOTE)
    return f"{variable_of(field)} must be {_what_is_right(field)}, not {given}"


def _what_is_right(field: str) -> str:
    info = Settings.model_fields[field]
    if choices := get_args(info.annotation):
        words = [repr(choice) for choice in choices if isinstance(choice, str)]
        if words:
            return f"{', '.join(words[:-1])} or {words[-1]}"
    limits = {type(limit).__name__: limit for limit in info.metadata}
    if "Ge" in limits:
        number = "number" if info.annotation is float else "whole number"
        return f"a {number} from {limits['Ge'].ge:,} to {limits['Le'].le:,}"
    if info.annotation is bool:
        return "1 or 0"
    return "a text" if info.annotation is str else "a path"
