"""Loads what other packages add, and finds names that are claimed twice. All problems are reported together."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path

from bt_runtime import Key, Kind, KindError, Registry
from oracle.classify import IntentClassifier
from oracle.decision import decision_trees
from oracle.decision.registry import Factory
from oracle.plugins.contributions import Contribution, installed, named
from oracle.plugins.errors import PluginError
from oracle.plugins.reading import classifier_of, decision_trees_of, folder_of, kinds_of, tools_of
from oracle.tools import Tool

_LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class Loaded:
    """What one contribution has added.

    Args:
        group: of its entry point.
        package: the distribution with its version, or the module.
        names: of what it adds.
    """

    group: str
    package: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plugins:
    """What other packages add.

    Args:
        tools: in addition to the built-in ones.
        kinds: of nodes.
        keys: of the blackboard.
        decision_trees: by name.
        trees: folders of tree files.
        prompts: folders of prompt segments.
        intents: classifies responses in place of the built-in heuristic.
        loaded: where all of that comes from.
    """

    tools: tuple[Tool, ...] = ()
    kinds: tuple[Kind, ...] = ()
    keys: tuple[Key, ...] = ()
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
        self.check_free("oracle.kinds", {*registry.kinds, *registry.keys})
        try:
            return registry.extended(self.kinds, self.keys) if self.kinds or self.keys else registry
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


def load_plugins(modules: Sequence[str] = (), *, found: Iterable[EntryPoint] | None = None) -> Plugins:
    """Load the plugins of this environment.

    Args:
        modules: named by the operator.
        found: the entry points; `None`: those of the installed packages.

    Raises:
        PluginError: some cannot be loaded, or two claim a name; with every problem.
    """
    gathering = _Gathering()
    for contribution in installed(found):
        gathering.add(contribution)
    for module in modules:
        gathering.add_module(module)
    if gathering.problems:
        raise PluginError(gathering.problems)
    return gathering.plugins()


class _Gathering:
    """The plugins so far."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._claims: dict[tuple[str, str], str] = {}
        self._loaded: list[Loaded] = []
        self._tools: list[Tool] = []
        self._kinds: list[Kind] = []
        self._keys: list[Key] = []
        self._decision_trees: dict[str, Factory] = {}
        self._folders: dict[str, list[Path]] = {"oracle.trees": [], "oracle.prompts": []}
        self._intents: IntentClassifier | None = None

    def add_module(self, module: str) -> None:
        """Add what a module has."""
        try:
            contributions = named(module)
        except Exception as error:  # noqa: BLE001  another package's import can raise anything
            self.problems.append(f"ORACLE_PLUGINS names {module!r}, which cannot be loaded: {_reason(error)}")
            return
        for contribution in contributions:
            self.add(contribution)

    def add(self, contribution: Contribution) -> None:
        """Load a contribution, and note what is wrong with it."""
        try:
            names = self._take(contribution, contribution.load())
        except Exception as error:  # noqa: BLE001  another package's import can raise anything
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
            decision_trees=dict(self._decision_trees),
            trees=tuple(self._folders["oracle.trees"]),
            prompts=tuple(self._folders["oracle.prompts"]),
            intents=self._intents,
            loaded=tuple(self._loaded),
        )

    def _take(self, contribution: Contribution, found: object) -> list[str]:
        """Add what was found; the names that it claims."""
        match contribution.group:
            case "oracle.tools":
                tools = tools_of(found)
                self._tools += tools
                return [tool.name for tool in tools]
            case "oracle.kinds":
                kinds, keys = kinds_of(found)
                self._kinds += kinds
                self._keys += keys
                return [*(kind.name for kind in kinds), *(key.name for key in keys)]
            case "oracle.decision_trees":
                trees = decision_trees_of(contribution.name, found)
                self._decision_trees |= {name: trees[name] for name in trees if name not in decision_trees()}
                return list(trees)
            case "oracle.classifiers":
                self._intents = classifier_of(found)
                return ["responses"]  # there is one of them, so two are a conflict
            case group:
                folder = folder_of(found)
                self._folders[group].append(folder)
                return sorted(path.stem for path in folder.glob("*.yaml" if group == "oracle.trees" else "*.md"))

    def _claim(self, contribution: Contribution, name: str) -> None:
        key = (contribution.group, name)
        first = self._claims.setdefault(key, contribution.package)
        if first != contribution.package or self._loaded[-1].names.count(name) > 1:
            what = {"oracle.classifiers": "the classifier of responses"}.get(contribution.group, repr(name))
            self.problems.append(
                f"{contribution.group}: {first} and {contribution.package} both claim {what}; remove one of them"
            )


def _reason(error: Exception) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _LONGEST_REASON else f"{text[: _LONGEST_REASON - 1]}…"
