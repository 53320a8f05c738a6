"""The warnings about a tree.

They do not keep a tree from running, so they are made where a tree is edited (the command line, the editor, the
service's check), never where a query loads one.

A warning is taken back by a comment on its line (`silences`).
"""

from collections.abc import Iterator, Mapping
from itertools import chain

from bt_runtime.analysis import keys, limits, reaching, values, writes
from bt_runtime.analysis.budget import Budget, OverBudgetError
from bt_runtime.analysis.codes import BASIC, NOT_JUDGED, Code, by_name
from bt_runtime.analysis.flow import flow_of, flows_of_parts
from bt_runtime.analysis.host import host_of
from bt_runtime.analysis.silences import Judged, silenced, silences_in
from bt_runtime.language.definition import TreeDefinition
from bt_runtime.language.registry import Registry
from bt_runtime.text import Mistake, in_order

_MODULES = (reaching, limits, keys, values, writes)
"""The checks of the flow of control; a new one is a new module, and its name here."""


def _flow_warnings(tree: TreeDefinition, registry: Registry, budget: Budget) -> Iterator[Mistake]:
    """What the flow of control shows, by the judges of the runtime and those of the host, as far as the budget goes."""
    judges = (*(module.judge for module in _MODULES), *host_of(registry).judges)
    parts = flows_of_parts(tree, registry=registry, budget=budget)
    try:
        for flow in chain((flow_of(tree, registry=registry, budget=budget),), parts):
            yield from _without_consequences([mistake for judge in judges for mistake in judge(flow)])
    except OverBudgetError:
        message = (
            "this tree is too large for all of its control to be judged: there may be faults that no warning names"
        )
        hint = "give parts of it files of their own (internal: true); each is judged by itself"
        yield Mistake(tree.root.place, message, hint, tree.root.path, code=NOT_JUDGED.name, severity="warning")


def _without_consequences(found: list[Mistake]) -> Iterator[Mistake]:
    """The warnings but those that another one explains: a key that is read too early, a loop that does not end."""
    explained = {mistake.path for mistake in found if mistake.code == "key-read-early"}
    untils = {mistake.path for mistake in found if mistake.code in _OF_UNTIL}
    is_endless = any(mistake.code in {"until-never-changes", "until-never-true"} for mistake in found)
    for mistake in found:
        is_told = (
            (mistake.path in explained and mistake.code.startswith("condition-always"))
            or (mistake.path in untils and mistake.code in {"until-never-true", "wait-over-at-once"})
            or (is_endless and mistake.code == "stop-ignored")
        )
        if not is_told:
            yield mistake


_OF_UNTIL = frozenset(
    {"until-never-changes", "key-never-written", "key-read-early", "never-equal", "always-false", "always-true"}
    | {"operation-fails", "null-operand", "loop-never-runs"}
)
"""Warnings that say why an `until` does not change."""


def codes_of(registry: Registry) -> Mapping[str, Code]:
    """All codes by name, those of the host among them."""
    return by_name(chain(BASIC, *(module.CODES for module in _MODULES), host_of(registry).codes))


def warnings_of(tree: TreeDefinition, *, registry: Registry, budget: Budget | None = None) -> tuple[Mistake, ...]:
    """All warnings about a tree, those of the trees that it includes among them, sorted by place.

    Args:
        tree: a tree that was read without an error.
        registry: its kinds, and the checks of the host.
        budget: bounds the check, and can end it; `None`: the bounds that hold for every check.
    """
    return judged(tree, registry=registry, budget=budget).warnings


def judged(tree: TreeDefinition, *, registry: Registry, budget: Budget | None = None) -> Judged:
    """All warnings about a tree, and which silences of its files were used."""
    left = budget or Budget()
    found = in_order(_flow_warnings(tree, registry, left))
    known = codes_of(registry)
    silences = [each for file, text in tree.texts.items() for each in silences_in(text, file=file, known=known)]
    result = silenced(found, silences, known=known, own_file=tree.file)
    return Judged(in_order(result.warnings), result.used)
