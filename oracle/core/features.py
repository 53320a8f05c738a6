"""The features of an installation besides the kernel; each adds calls, commands and background work.

The kernel names features only as text, in `DEFAULT_FEATURES`, and imports none: a feature without its folder is simply
absent. Those of other packages are found by the entry points `oracle.features`, and use the same fields.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Final, Literal

from bt_runtime.text import did_you_mean
from bt_runtime.text.data import dataclass
from oracle.core.errors import OperatorError

GROUP: Final = "oracle.features"
VARIABLE: Final = "ORACLE_FEATURES"

DEFAULT_FEATURES: Final = (
    "oracle.features.claude",
    "oracle.features.openai_compatible",
    "oracle.features.mcp_client",
    "oracle.features.traces",
    "oracle.features.encoder",
    "oracle.features.shadow",
    "oracle.features.webhooks",
    "oracle.features.debugging",
    "oracle.features.feedback",
    "oracle.features.usage",
    "oracle.features.sign_in",
    "oracle.features.attachments",
    "oracle.features.long_conversations",
    "oracle.features.large_results",
    "oracle.features.spending",
    "oracle.features.structured_answers",
    "oracle.features.evidence",
    "oracle.server.connect.openai",
    "oracle.server.connect.ai_sdk",
    "oracle.server.connect.ag_ui",
    "oracle.features.mcp_server",
    "oracle.features.rules",
    "oracle.features.scenarios",
    "oracle.features.verifier",
    "oracle.features.explaining",
    "oracle.features.editing",
    "oracle.features.judging",
    "oracle.features.language_server",
    "oracle.features.domain_authoring",
    "oracle.features.demo",
)
"""The packages of the features that come with the product; each has its `FEATURE`."""


class FeatureError(OperatorError, ValueError):
    """Features that cannot be used as `ORACLE_FEATURES` or an entry point names them; the message says why."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting that a feature reads (`settings["name"]`); its variable is `ORACLE_` and the name in capitals.

    Args:
        name: a word or several, as `shadow_rate`.
        meaning: a sentence or two for the table of settings.
        kind: what it is: `names` and `hosts` are texts between commas, a `flag` is `1` or `0`.
        default: what it is where it is not set.
        choices: the words that it may be, in place of any text; of a `folder`, besides any other path.
        least: of a number.
        most: of a number, or the length of a text.
        is_limit: 0 means that there is none, which is `None`.
        decides: what it decides that a settings file must not, as `which code runs`: the environment alone sets it.
    """

    name: str
    meaning: str
    _: KW_ONLY
    kind: Literal["flag", "whole", "number", "text", "folder", "names", "hosts", "secret"]
    default: object = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    is_limit: bool = False
    decides: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """Something that can be left out, or added by another package.

    Places are texts (`module:name`) and imported when they are needed.

    Args:
        name: the word of users for it, as `ORACLE_FEATURES` has it.
        summary: what it does, in a line.
        needs: the names of features without which it cannot be.
        settings: those that nothing else reads.
        checks: called with all settings, where they ask for the feature; yields a sentence for each mistake that no
            setting has by itself.
        calls: FastAPI routers below `/api/`, imported when the first request is for one of them.
        open_calls: the same below `/open/`, where requests need no token.
        adapters: by the path below which a protocol of clients is served, the module of its calls
            (`oracle.server.api.adapters`).
        bodies: by the path of a call of its own, the most bytes that a body of it may have, where that is more than
            other calls take.
        fields: by a field of a question's body, what reads it (`oracle.server.api.fields`).
        tables: what it keeps in the database, each a `Keeping` (`oracle.runs.storage.parts`).
        commands: by what is typed behind `oracle`, such as `trees judge`: where the command is, and its summary.
        tools: what plugins name by `oracle.tools`.
        kinds: what plugins name by `oracle.kinds`.
        models: called with the settings; returns the `ProviderModels` (`oracle.llm.routing`) that they can name.
        actions: called with the tools that trees may name, by name, and the settings; returns those with its own.
        warnings: called with the settings; returns a function that is given each warning of `oracle trees check`, and
            returns it, perhaps with more words.
        differences: called with two trees and the kinds that they were read with; returns what is different, as
            `oracle.cli.tree_compare.Differences`.
        prepares: called with the settings and the `Fittings` of an Oracle before that is made, in a service or for a
            command; returns an async context manager that is left when the Oracle is no longer used.
        opens: called with the `ServiceParts` of a service before its runs begin; returns an async context manager that
            is left when the service has stopped.
        when: the setting without which what is called is not, because it is empty or `off`, as `webhook_urls`, or with
            the one value that asks for the feature, as `control=shadow`; empty: it always is.
    """

    name: str
    summary: str
    needs: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    checks: str | None = None
    calls: tuple[str, ...] = ()
    open_calls: tuple[str, ...] = ()
    adapters: Mapping[str, str] = field(default_factory=dict)
    bodies: Mapping[str, int] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    tables: tuple[str, ...] = ()
    commands: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    tools: str | None = None
    kinds: str | None = None
    models: str | None = None
    actions: str | None = None
    warnings: str | None = None
    differences: str | None = None
    prepares: str | None = None
    opens: str | None = None
    when: str = ""

    def is_asked_for(self, settings: object) -> bool:
        """Whether these settings want what `when` bounds."""
        name, _, value = self.when.partition("=")
        found = getattr(settings, name) if name else True
        return found == value if value else bool(found) and found != "off"


@cache
def installed_features() -> Mapping[str, tuple[Feature, str]]:
    """Every feature by its name, and the package that has it: our own first, then those of other packages.

    Raises:
        FeatureError: one of another package cannot be loaded, or has a name or a setting that is taken.
    """
    found: dict[str, tuple[Feature, str]] = {}
    for home in DEFAULT_FEATURES:
        if find_spec(home) is not None:
            feature = import_module(home).FEATURE
            found[feature.name] = (feature, home)
    for point in sorted(entry_points(group=GROUP), key=lambda each: each.value):
        try:
            feature = point.load()
        except Exception as error:
            raise FeatureError(f"{GROUP}: {point.name} ({point.value}) cannot be loaded: {error}") from error
        if not isinstance(feature, Feature):
            raise FeatureError(f"{GROUP}: {point.name} ({point.value}) must be a Feature, not {feature!r:.100}")
        if feature.name in found:
            raise FeatureError(
                f"{GROUP}: {point.value} has the name {feature.name!r} of another feature; choose another"
            )
        found[feature.name] = (feature, point.module)
    owners: dict[str, str] = {}
    for feature, home in found.values():
        for setting in feature.settings:
            if (owner := owners.setdefault(setting.name, feature.name)) != feature.name:
                raise FeatureError(
                    f"the feature {feature.name!r} ({home}) declares the setting {setting.name!r} of the feature "
                    f"{owner!r}; choose another name"
                )
    return found


def features(chosen: Collection[str] = ()) -> tuple[Feature, ...]:
    """The features of this installation but those that are left out.

    Args:
        chosen: `-shadow` leaves out the feature `shadow`.

    Raises:
        FeatureError: there is no such feature, one that is used needs one that is not, or see `installed_features`.
    """
    known = {name: feature for name, (feature, _) in installed_features().items()}
    for each in chosen:
        if not each.startswith("-") or each[1:] not in known:
            near = did_you_mean(each.removeprefix("-"), known) or f"the features are {', '.join(known)}"
            raise FeatureError(f"{VARIABLE} leaves out features, as '-shadow,-webhooks', not {each!r:.100}; {near}")
    used = tuple(feature for name, feature in known.items() if f"-{name}" not in chosen)
    names = {feature.name for feature in used}
    for feature in used:
        for needed in feature.needs:
            if needed not in names:
                raise FeatureError(f"the feature {feature.name!r} needs {needed!r}: leave out both with {VARIABLE}")
    return used


def chosen_features(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The features that the environment selects."""
    return tuple(name for part in environ.get(VARIABLE, "").split(",") if (name := part.strip()))


def settings_without_effect(chosen: Collection[str], given: Mapping[str, object]) -> Iterator[str]:
    """A sentence for each setting that only a feature reads which is left out, or asks for one that is not installed.

    Args:
        chosen: as `features` takes it.
        given: the settings that the operator has set, by field.
    """
    used = {feature.name for feature in features(chosen)}
    if given.get("control") == "shadow" and "shadow" not in installed_features():
        yield "ORACLE_CONTROL asks for the feature 'shadow', which is not installed; set it to 'tree' or 'loop'"
    for name, (feature, _) in installed_features().items():
        for setting in () if name in used else {feature.when, *(setting.name for setting in feature.settings)}:
            of, _, value = setting.partition("=")
            if given.get(of, "off") != "off" and value in ("", given[of]):
                variable = f"ORACLE_{of.upper()}"
                yield f"{variable} asks for the feature {name!r}, which {VARIABLE} leaves out; remove one of the two"


def routers(used: Iterable[Feature]) -> list[str]:
    """The places of the calls of features below `/api/`."""
    return [place for feature in used for place in feature.calls]
