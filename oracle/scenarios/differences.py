"""Differences, and how values are shown in them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from bt_runtime.text.yaml_reader import YamlNode
from oracle.scenarios.matching import text_matches, values_match
from oracle.scenarios.mistakes import Reader
from oracle.scenarios.model import Json
from oracle.scenarios.played import Played

Path = tuple[str | int, ...]
_LONGEST: Final = 2_000


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not as stated.

    Args:
        path: which part of the expectations.
        stated: what must happen, as text.
        got: what happened, as text.
        hint: what may be wrong with the statement itself.
    """

    path: Path
    stated: str
    got: str
    hint: str | None = None


class Expectation(Protocol):
    """One thing that can be stated."""

    def check(self, node: YamlNode, reader: Reader) -> None:
        """Report what is wrong with the statement."""
        ...

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Difference]:
        """The differences."""
        ...

    def actual(self, stated: Json, played: Played) -> Json:
        """What happened, in the form in which it is stated; the parts that hold stay as they are."""
        ...


def pair_matches(stated: Json, got: tuple[str, Json]) -> bool:
    """Whether a kind with a value is as stated: by its kind alone, or with the value or a part of it."""
    name, value = got
    if isinstance(stated, str):
        return stated == name
    ((kind, wanted),) = stated.items()
    if kind != name:
        return False
    if isinstance(value, str):
        return text_matches(wanted, value)
    if isinstance(wanted, str):
        return isinstance(value, Mapping) and wanted in value
    ((inner, detail),) = value.items() if len(value) == 1 else (("", value),)
    if isinstance(detail, str) and isinstance(wanted, Mapping) and set(wanted) == {inner}:
        return text_matches(wanted[inner], detail)
    return values_match(wanted, value)


def shown(value: Json) -> str:
    """A value on one line, as a file would have it."""
    if isinstance(value, str):
        return _clipped(value if value and "\n" not in value else repr(value))
    if isinstance(value, Mapping):
        return _clipped("{" + ", ".join(f"{name}: {shown(each)}" for name, each in value.items()) + "}")
    if isinstance(value, list | tuple):
        return _clipped("[" + ", ".join(map(shown, value)) + "]")
    return {True: "true", False: "false", None: "null"}.get(value, str(value)) if _is_plain(value) else str(value)


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, bool)


def as_item(each: tuple[str, Json]) -> Json:
    """A kind with a value as a file would state it."""
    name, value = each
    if isinstance(value, Mapping):
        value = dict(value)
    return {name: value} if value not in ("", {}) else name


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
