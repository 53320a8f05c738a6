"""Finds what other packages add (their entry points, and the modules that the operator names), and reads it."""

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final, TypeVar, cast

from bt_runtime import Key, Kind
from bt_runtime.language.registry import KindPlace
from bt_runtime.text.data import dataclass
from oracle.classify.protocol import IntentClassifier
from oracle.core.errors import OperatorError
from oracle.decision.trees import Factory
from oracle.tools import Tool

T = TypeVar("T")


def tools_of(found: object) -> list[Tool]:
    """Tools: one, several, or a function without arguments that makes them.

    Raises:
        TypeError: it is something else.
    """
    return [_checked(each, Tool, "a tool (see oracle.tools.tool)") for each in _several(_made(found))]


@dataclass(frozen=True, slots=True)
class Kinds:
    """What extends the trees' language.

    Args:
        kinds: node kinds, or where they are.
        behaviours: of py_trees, by the names that trees have for them.
    """

    kinds: tuple[Kind | KindPlace, ...]
    keys: tuple[Key, ...]
    behaviours: Mapping[str, type[Any]]


def kinds_of(found: object) -> Kinds:
    """Node kinds (classes with `@node`, `Kind`s or places of them), py_trees behaviours, and the blackboard keys.

    Raises:
        TypeError: it is something else.
    """
    kinds: list[Kind | KindPlace] = []
    keys: list[Key] = []
    behaviours: dict[str, Any] = {}
    for each in _several(found):
        kind = getattr(each, "kind", each)
        if isinstance(kind, Key):
            keys.append(kind)
            continue
        if isinstance(kind, Kind | KindPlace):
            kinds.append(kind)
            continue
        from bt_runtime.behaviours.adapting import behaviour_name, is_behaviour, refusal  # noqa: PLC0415  few are such

        if is_behaviour(kind):
            why = refusal(kind)
            if why is not None:
                raise TypeError(f"the behaviour {kind.__name__} cannot be used: {why}")
            behaviours[behaviour_name(kind)] = kind
        else:
            words = "a node kind (see bt_runtime.node), a py_trees behaviour or a blackboard key"
            kinds.append(_checked(kind, Kind, words))
    return Kinds(tuple(kinds), tuple(keys), behaviours)


def decision_trees_of(name: str, found: object) -> Mapping[str, Factory]:
    """Decision trees: a class, called with an `AgentConfig`, under the name of its entry point, or several by name.

    Raises:
        TypeError: it is something else.
    """
    several: Mapping[str, object] = found if isinstance(found, Mapping) else {name: found}
    for each, factory in several.items():
        if not callable(factory):
            raise TypeError(f"the decision tree {each!r} must be a class or a function, not {_shown(factory)}")
    return {each: factory for each, factory in several.items() if callable(factory)}


def folder_of(found: object) -> Path:
    """A folder: a path, or a package whose folder it is.

    Raises:
        TypeError: it is something else, or no folder.
    """
    if isinstance(found, ModuleType):
        paths = list(getattr(found, "__path__", ()))  # a folder without `__init__.py` is a package as well
        if len(paths) != 1:
            raise TypeError(f"it must be a folder or a package, not the module {found.__name__!r}")
        found = Path(paths[0])
    if not isinstance(found, str | Path):
        raise TypeError(f"it must be a folder or a package, not {_shown(found)}")
    folder = Path(found)
    if not folder.is_dir():
        raise TypeError(f"there is no folder {str(folder)!r}")
    return folder


def names_in(folder: Path, group: str) -> list[str]:
    """The names of the trees or prompt segments in a folder of `oracle.trees` or `oracle.prompts`."""
    if group == "oracle.trees":
        return sorted(path.stem for path in folder.glob("*.yaml"))
    inner = folder / "oracle"  # as `prompts.load_segments` reads it
    return sorted(path.stem for path in (inner if inner.is_dir() else folder).glob("*.md"))


def classifier_of(found: object) -> IntentClassifier:
    """A classifier of responses, or a class or function without arguments that makes one.

    Raises:
        TypeError: it is something else.
    """
    made: object = found() if inspect.isclass(found) or inspect.isfunction(found) else found
    if not (callable(getattr(made, "classify", None)) and isinstance(getattr(made, "name", None), str)):
        raise TypeError(f"a classifier has a `name` and a method `classify(text)`; {_shown(made)} has not")
    return cast("IntentClassifier", made)


def _made(found: object) -> object:
    return found() if inspect.isfunction(found) else found


def _several(found: object) -> Sequence[object]:
    return list(found) if isinstance(found, Iterable) and not isinstance(found, str | bytes) else [found]


def _checked(found: object, wanted: type[T], words: str) -> T:
    if not isinstance(found, wanted):
        raise TypeError(f"it must be {words}, not {_shown(found)}")
    return found


def _shown(found: object) -> str:
    if isinstance(found, FunctionType):
        return f"the function {found.__name__!r}"
    return f"{found!r:.80}" if isinstance(found, str | int | float | None) else f"a {type(found).__name__}"


GROUPS: Final[Mapping[str, str]] = {
    "oracle.tools": "tools",
    "oracle.kinds": "node kinds and blackboard keys",
    "oracle.decision_trees": "decision trees",
    "oracle.trees": "folders of trees",
    "oracle.prompts": "folders of prompt segments",
    "oracle.classifiers": "classifiers of responses",
}
"""The groups of entry points, and what an entry point of each group adds."""


class PluginError(OperatorError):
    """Plugins that cannot be used; the message says which, why, and what would be right.

    Args:
        problems: a sentence for each problem; there is at least one.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems: tuple[str, ...] = tuple(problems)
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True, slots=True)
class Contribution:
    """Something that a package adds, before it is loaded.

    Args:
        group: one of `GROUPS`.
        name: of the entry point, or of the module's attribute.
        package: the distribution with its version, or the module.
        load: imports it; may raise anything.
    """

    group: str
    name: str
    package: str
    load: Callable[[], object]

    @property
    def label(self) -> str:
        """For messages: `oracle.tools: weather (acme-weather 1.2)`."""
        return f"{self.group}: {self.name} ({self.package})"


def installed(found: Iterable[EntryPoint] | None = None) -> Iterator[Contribution]:
    """The entry points of the installed packages, by group, package and name.

    Args:
        found: the entry points to look through; `None`: those of this environment.
    """
    # One look at the environment: each call of `entry_points` reads the metadata of every installed package.
    every = entry_points() if found is None else EntryPoints(found)
    for group in GROUPS:
        points = every.select(group=group)
        for point in sorted(points, key=lambda each: (_package(each), each.name)):
            yield Contribution(point.group, point.name, _package(point), point.load)


def named(module: str) -> list[Contribution]:
    """What a module adds that the operator has named: its attributes `tools`, `kinds`, `decision_trees`, ….

    Raises:
        Exception: whatever its import raises.
        LookupError: it has none of these attributes.
    """
    imported = importlib.import_module(module)
    found = [
        Contribution(group, attribute, module, _attribute(imported, attribute))
        for group in GROUPS
        if hasattr(imported, attribute := group.partition(".")[2])
    ]
    if not found:
        wanted = ", ".join(group.partition(".")[2] for group in GROUPS)
        raise LookupError(f"it has none of the attributes {wanted}")
    return found


def _attribute(module: ModuleType, name: str) -> Callable[[], object]:
    return lambda: getattr(module, name)


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.module
