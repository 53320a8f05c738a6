"""Finds what other packages add: their entry points, and the modules that the operator names."""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from types import ModuleType
from typing import Final

from oracle.core.errors import OperatorError

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
