"""Statements about a played scenario: how they name nodes, how they are compared, and what differs.

A plain text must be equal. A mapping states parts: `{contains: a}` or `{contains: [a, b]}` (in this order), `lacks`
(one or several), `starts`, `ends`.

Nodes are named by a path, or by some of its labels in order, the last one last. A `subtree` without a name of its own
is also named by its tree: `fallback/give_up`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from bt_runtime import NodeDefinition, TreeDefinition
from oracle.authoring.scenarios.model import Json
from oracle.authoring.scenarios.played import Played

Path = tuple[str | int, ...]
_LONGEST: Final = 2_000


@dataclass(frozen=True, slots=True)
class Deviation:
    """Something that is not as stated.

    Args:
        path: names and numbers that lead to the part of the expectations.
        stated: the text of what must happen.
        got: the text of what happened.
        hint: what may be wrong with the statement itself.
    """

    path: Path
    stated: str
    got: str
    hint: str | None = None


class Expectation(Protocol):
    """One thing that can be stated."""

    @property
    def form(self) -> Any:  # noqa: ANN401  a type
        """What the statement must be, as a type that pydantic validates."""
        ...

    def compare(self, path: Path, stated: Json, played: Played) -> Iterator[Deviation]:
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
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_item(each: tuple[str, Json]) -> Json:
    """A kind with a value as a file would state it."""
    name, value = each
    if isinstance(value, Mapping):
        value = dict(value)
    return {name: value} if value not in ("", {}) else name


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def text_matches(stated: Json, got: str) -> bool:
    """Whether a text is as stated."""
    if isinstance(stated, str):
        return stated == got
    if not got.startswith(stated.get("starts", "")) or not got.endswith(stated.get("ends", "")):
        return False
    if any(part in got for part in _listed(stated.get("lacks", ()))):
        return False
    at = 0
    for part in _listed(stated.get("contains", ())):
        found = got.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def values_match(stated: Json, got: Json) -> bool:
    """Whether a value is as stated: mappings may have more entries, everything else is equal."""
    if isinstance(stated, dict) and isinstance(got, dict):
        return all(name in got and values_match(value, got[name]) for name, value in stated.items())
    if isinstance(stated, list | tuple) and isinstance(got, list | tuple):
        return len(stated) == len(got) and all(map(values_match, stated, got))
    if isinstance(stated, bool) or isinstance(got, bool):
        return stated is got
    return bool(stated == got)


def _listed(value: Json) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def find_nodes(name: str, tree: TreeDefinition) -> tuple[str, ...]:
    """The paths that a name stands for: `fallback/give_up` for every `give_up` below something named `fallback`."""
    if name in tree.paths:
        return (name,)
    wanted = name.split("/")
    return tuple(path for path, labels in _labelled(tree.root, ()) if _has(labels, wanted))


def names_of(tree: TreeDefinition) -> set[str]:
    """The labels that names are made of."""
    return {label for _, labels in _labelled(tree.root, ()) for each in labels for label in each}


def short_name(node: NodeDefinition) -> str:
    """The last label of a node; of a `subtree`, its tree."""
    return str(getattr(node.settings, "tree", node.label)) if node.kind == "subtree" else node.label


def _labelled(node: NodeDefinition, above: tuple[frozenset[str], ...]) -> list[tuple[str, tuple[frozenset[str], ...]]]:
    labels = (*above, frozenset({node.label, short_name(node)}))
    found = [(node.path, labels)]
    for children in node.children.values():
        for child in children:
            found += _labelled(child, labels)
    return found


def _has(labels: tuple[frozenset[str], ...], wanted: list[str]) -> bool:
    if wanted[-1] not in labels[-1]:
        return False
    rest = iter(labels)
    return all(any(label in each for each in rest) for label in wanted)
