"""Loads what other packages add, and finds names that are claimed twice. All problems are reported together."""

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import field
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from bt_runtime import Key, Kind, KindError, Registry
from bt_runtime.language.registry import KindPlace
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import truncated
from oracle.classify.protocol import IntentClassifier
from oracle.core.features import DEFAULT_FEATURES, features, installed_features
from oracle.core.loading import imported
from oracle.decision.trees import Factory
from oracle.server.plugins.contributions import (
    Contribution,
    PluginError,
    classifier_of,
    decision_trees_of,
    folder_of,
    installed,
    kinds_of,
    named,
    names_in,
    tools_of,
)
from oracle.tools import Tool

_LONGEST_REASON = 300
_INTERRUPTED = (130, 143)
"""The exit codes of SIGINT and SIGTERM."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What one contribution has added.

    Args:
        group: the group of its entry point, one of `GROUPS`.
        package: the distribution with its version, or the module.
        names: of what it adds; that of a blackboard key ends with ` (key)`.
    """

    group: str
    package: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plugins:
    """What other packages add.

    Args:
        tools: in addition to the built-in ones.
        kinds: the node kinds that are added.
        keys: the blackboard keys that are added.
        behaviours: classes of py_trees, by the names that trees have for them.
        decision_trees: what makes a decision tree, by its name.
        trees: folders of tree files.
        prompts: folders of prompt segments.
        intents: classifies responses in place of the built-in heuristic.
        loaded: where all of that comes from.
    """

    tools: tuple[Tool, ...] = ()
    kinds: tuple[Kind | KindPlace, ...] = ()
    keys: tuple[Key, ...] = ()
    behaviours: Mapping[str, type[Any]] = field(default_factory=dict)
    decision_trees: Mapping[str, Factory] = field(default_factory=dict)
    trees: tuple[Path, ...] = ()
    prompts: tuple[Path, ...] = ()
    intents: IntentClassifier | None = None
    loaded: tuple[Loaded, ...] = ()

    def extended(self, registry: Registry) -> Registry:
        """The registry with the kinds and keys of the plugins.

        Raises:
            PluginError: one of them is invalid, or its name is taken.
        """
        self.check_free("oracle.kinds", {*registry.kinds, *map(_of_key, registry.keys)})
        try:
            extended = registry.extended(self.kinds, self.keys) if self.kinds or self.keys else registry
            if not self.behaviours:
                return extended
            return extended.with_kind(imported("bt_runtime.behaviours.kind:py_trees_kind")(self.behaviours))
        except KindError as error:
            raise PluginError([f"oracle.kinds: {error}"]) from None

    def check_free(self, group: str, built_in: Collection[str]) -> None:
        """Check that nothing of a group has the name of something built in.

        Raises:
            PluginError: something has.
        """
        problems = [
            f"{group} of {each.package}: {name!r} is built in; choose another name"
            for each in self.loaded
            if each.group == group
            for name in each.names
            if name in built_in
        ]
        if problems:
            raise PluginError(problems)


def load_plugins(
    modules: Sequence[str] = (), *, chosen: Collection[str] = (), found: Iterable[EntryPoint] | None = None
) -> Plugins:
    """Load the plugins of this environment.

    What they print while they are loaded goes to standard error: standard output may be read by a program.

    Args:
        modules: named by the operator.
        chosen: the features that are left out, as `oracle.core.features.features` takes them.
        found: the entry points; `None`: those of the installed packages.

    Raises:
        PluginError: some cannot be loaded, or two claim a name; with every problem.
        KeyboardInterrupt: Ctrl-C, which cannot be distinguished from a plugin that raises it.
    """
    gathering = _Gathering()
    with redirect_stdout(sys.stderr):
        gathering.add_installed(found)
        gathering.add_features(chosen)
        for module in dict.fromkeys(modules):
            gathering.add_module(module)
    if gathering.problems:
        raise PluginError(gathering.problems)
    return gathering.plugins()


class _Gathering:
    """The plugins so far."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._claims: dict[tuple[str, str], Contribution] = {}
        self._loaded: list[Loaded] = []
        self._tools: list[Tool] = []
        self._kinds: list[Kind | KindPlace] = []
        self._keys: list[Key] = []
        self._behaviours: dict[str, Any] = {}
        self._decision_trees: dict[str, Factory] = {}
        self._folders: dict[str, list[Path]] = {"oracle.trees": [], "oracle.prompts": []}
        self._intents: IntentClassifier | None = None

    def add_installed(self, found: Iterable[EntryPoint] | None) -> None:
        """Add what the entry points name."""
        try:
            contributions = list(installed(found))
        except Exception as error:  # noqa: BLE001  the metadata of any package can be damaged
            self.problems.append(f"the entry points of the installed packages cannot be read: {_reason(error)}")
            return
        for contribution in contributions:
            self.add(contribution)

    def add_features(self, chosen: Collection[str]) -> None:
        """Add the tools and node kinds of features."""
        for feature in features(chosen):
            for group, place in (("oracle.tools", feature.tools), ("oracle.kinds", feature.kinds)):
                if place is not None:
                    package = installed_features()[feature.name][1]
                    self.add(Contribution(group, feature.name, package, partial(imported, place)))

    def add_module(self, module: str) -> None:
        """Add what a module has."""
        try:
            contributions = named(module)
        except BaseException as error:
            if _is_interrupt(error):
                raise
            self.problems.append(f"ORACLE_PLUGINS names {module!r}, which cannot be loaded: {_reason(error)}")
            return
        for contribution in contributions:
            self.add(contribution)

    def add(self, contribution: Contribution) -> None:
        """Load a contribution, and note what is wrong with it."""
        try:
            names = self._take(contribution, contribution.load())
        except BaseException as error:
            if _is_interrupt(error):
                raise
            self.problems.append(f"{contribution.label} cannot be loaded: {_reason(error)}")
            return
        self._loaded.append(Loaded(contribution.group, contribution.package, tuple(names)))
        for name in names:
            self._claim(contribution, name)

    def plugins(self) -> Plugins:
        """All of them; call it if there are no problems."""
        return Plugins(
            tools=tuple(self._tools),
            kinds=tuple(self._kinds),
            keys=tuple(self._keys),
            behaviours=dict(self._behaviours),
            decision_trees=dict(self._decision_trees),
            trees=tuple(self._folders["oracle.trees"]),
            prompts=tuple(self._folders["oracle.prompts"]),
            intents=self._intents,
            loaded=tuple(each for each in self._loaded if each.package not in DEFAULT_FEATURES),
        )

    def _take(self, contribution: Contribution, found: object) -> list[str]:
        """Add what was found; the names that it claims."""
        match contribution.group:
            case "oracle.tools":
                tools = tools_of(found)
                self._tools += tools
                return [tool.name for tool in tools]
            case "oracle.kinds":
                added = kinds_of(found)
                self._kinds += added.kinds
                self._keys += added.keys
                self._behaviours |= added.behaviours
                return [
                    *(kind.name for kind in added.kinds),
                    *added.behaviours,
                    *map(_of_key, (key.name for key in added.keys)),
                ]
            case "oracle.decision_trees":
                trees = decision_trees_of(contribution.name, found)
                self._decision_trees |= trees
                return list(trees)
            case "oracle.classifiers":
                self._intents = classifier_of(found)
                return ["responses"]  # there is one of them, so two are a conflict
            case group:
                folder = folder_of(found)
                self._folders[group].append(folder)
                return names_in(folder, group)

    def _claim(self, contribution: Contribution, name: str) -> None:
        first = self._claims.setdefault((contribution.group, name), contribution)
        if first is contribution and self._loaded[-1].names.count(name) < 2:
            return
        what = {"oracle.classifiers": "the classifier of responses"}.get(contribution.group, repr(name))
        problem = f"{first.package} and {contribution.package} both claim {what}; remove one of them"
        if first.package == contribution.package:
            problem = f"{first.package} adds {what} twice; once is enough"
        problem = f"{contribution.group}: {problem}"
        if problem not in self.problems:
            self.problems.append(problem)


def _is_interrupt(error: BaseException) -> bool:
    """Whether the user or the system has ended the process; a command may turn the signal into an exit code."""
    return isinstance(error, KeyboardInterrupt) or (isinstance(error, SystemExit) and error.code in _INTERRUPTED)


def _of_key(name: str) -> str:
    """The name of a blackboard key among those of node kinds, which may be called the same."""
    return f"{name} (key)"


def _reason(error: BaseException) -> str:
    try:
        words = f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001  another package's exception may raise as well
        words = type(error).__name__
    return truncated(" ".join(words.split()), _LONGEST_REASON)
