"""Reads the settings from the environment, and tells what is wrong with them."""

import difflib
import os
from collections.abc import Iterator, Mapping, MutableMapping
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import dotenv
from dotenv.parser import parse_stream
from pydantic import SecretStr, ValidationError

from oracle.settings.fields import PREFIX, Settings, variable_of

_LONGEST_QUOTE = 120
_OF_THE_SDK = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")


class SettingsError(ValueError):
    """Settings that cannot be used; one line for each, with the variable, the value, and what would be right."""


def read_settings(env_file: Path | None = None, **given: Any) -> Settings:  # noqa: ANN401  checked by the fields
    """Read the settings from the environment.

    Variables of the provider's SDK that are set to nothing are removed from it: the SDK would take them at their word.

    Args:
        env_file: its variables are put into the environment first, where they are not set: for ours, and for the
            provider's SDK. One that does not exist is empty.
        given: values that go before the environment, by field; `None` means not given.

    Raises:
        SettingsError: naming every value that cannot be used.
    """
    _drop_empty(os.environ)
    if env_file is not None:
        _load(env_file)
        _drop_empty(os.environ)
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        # A default that follows from a wrong value is no further mistake.
        wrong = [each for each in error.errors(include_url=False) if each["type"] != "default_factory_not_called"]
        raise SettingsError("\n".join(map(_explain, wrong))) from None


def misspelt_variables(environ: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable that looks like one of ours and is none; others may well use our prefix."""
    known = [variable_of(field).removeprefix(PREFIX) for field in Settings.model_fields]
    for name in sorted(environ):
        rest = name.removeprefix(PREFIX)
        if name.startswith(PREFIX) and rest not in known:
            near = difflib.get_close_matches(rest, known, n=1, cutoff=0.8)
            if near:
                yield f"{name} is no setting and has no effect; did you mean {PREFIX}{near[0]}?"


def _drop_empty(environ: MutableMapping[str, str]) -> None:
    for name in _OF_THE_SDK:
        if name in environ and not environ[name].strip():
            del environ[name]


def _load(env_file: Path) -> None:
    try:
        if not env_file.is_file():
            return
        text = env_file.read_text(encoding="utf-8")
        _check_lines(text, env_file)
        dotenv.load_dotenv(stream=StringIO(text), override=False)
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a NUL in a value
        if isinstance(error, SettingsError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is not UTF-8 text"
        raise SettingsError(f"the settings file {str(env_file)!r} cannot be read: {reason}") from None


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
    told = error.get("ctx", {}).get("error")
    if told is not None and PREFIX in str(told):  # a rule of our own, which names variable and value itself
        return str(told)
    if not error["loc"]:
        return str(error["msg"])
    field = str(error["loc"][0])
    if _is_secret(field):
        return f"{variable_of(field)} is set to a blank text; set it to what it is to be, or not at all"
    return f"{variable_of(field)} must be {_what_is_right(field)}, not {_quoted(error['input'])}"


def _is_secret(field: str) -> bool:
    return SecretStr.__name__ in str(Settings.model_fields[field].annotation)


def _what_is_right(field: str) -> str:
    info = Settings.model_fields[field]
    if choices := get_args(info.annotation):
        words = [repr(choice) for choice in choices if isinstance(choice, str)]
        if words:
            note = " ('shadow' is not there yet)" if field == "control" else ""
            return f"{', '.join(words[:-1])} or {words[-1]}{note}"
    limits = {type(limit).__name__: limit for limit in info.metadata}
    if "Ge" in limits:
        number = "number" if info.annotation is float else "whole number"
        return f"a {number} from {limits['Ge'].ge:,} to {limits['Le'].le:,}"
    if info.annotation is bool:
        return "1 or 0"
    return "a text" if info.annotation is str else "a path"


def _quoted(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"
