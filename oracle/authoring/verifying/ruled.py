"""The rules of a tree as properties of its runs."""

from collections.abc import Callable, Hashable, Iterator, Sequence

from bt_runtime import EventPattern, Rule, TreeDefinition
from bt_runtime.language.rules.matching import condition_of
from oracle.agent.nodes.run_tools import ApprovedCalls, RunToolsSettings
from oracle.authoring.verifying.properties import Property
from oracle.authoring.verifying.world import World


def rule_properties(definition: TreeDefinition) -> tuple[Property, ...]:
    """A property for each rule, in the order of the file."""
    return tuple(
        Property(f"rule {rule.name}", rule.text, _check(index, rule), is_rule=True)
        for index, rule in enumerate(definition.rules)
    )


class _check:  # noqa: N801  called like a function
    """Whether a rule is broken for good, or at the end of the run."""

    def __init__(self, index: int, rule: Rule) -> None:
        self._index, self._rule = index, rule

    def __call__(self, world: World) -> str:
        if world.rules is None:
            return ""
        monitor, state = world.rules.monitors.monitors[self._index], world.rules.states[self._index]
        verdict = monitor.verdict(state, ended=world.progress.is_over)
        place = self._rule.place
        return f"the rule on line {place.line} is broken" if verdict == "violated" else ""


def rule_states(world: World) -> Callable[[], Hashable]:
    """What tells states apart that differ in the rules alone.

    Returns:
        A function of the state now: how far the run has come with each rule, and the notifications that its rules have
        not seen yet.
    """
    rules = world.rules
    if rules is None:
        return lambda: None
    stream = rules.stream
    counts_turns = any(
        not {"number", "turns"}.isdisjoint(names_in(each)) for _, each in conditions_of(world.definition.rules)
    )

    def states() -> Hashable:
        remarks = tuple([str(event) for event in stream.remarks])
        return rules.states, remarks, stream.turns if counts_turns else None

    return states


def conditions_of(rules: Sequence[Rule]) -> Iterator[tuple[Rule, EventPattern]]:
    """The patterns with a condition, each with its rule."""
    for rule in rules:
        for pattern in (*rule.events, *((rule.after,) if rule.after else ())):
            if pattern.where:
                yield rule, pattern


def names_in(pattern: EventPattern) -> frozenset[str]:
    """The fields of the event that a pattern's condition uses."""
    return condition_of(pattern).names


def named(definition: TreeDefinition, event_type: str) -> tuple[str, ...]:
    """The names that rules use for events of a type, in order; such events must be told apart."""
    return tuple(dict.fromkeys(_names(definition, event_type)))


def policies_of(definition: TreeDefinition) -> Iterator[ApprovedCalls]:
    """Which calls a person must approve."""
    for node in definition.nodes():
        if isinstance(node.settings, RunToolsSettings):
            yield from node.settings.policy


def policy_tools(definition: TreeDefinition) -> tuple[str, ...]:
    """The tools that these policies name, without the patterns."""
    return tuple(dict.fromkeys(each.tool for each in policies_of(definition) if each.is_exact))


def _names(definition: TreeDefinition, event_type: str) -> Iterator[str]:
    for rule in definition.rules:
        for pattern in (*rule.events, *((rule.after,) if rule.after else ())):
            if pattern.type.startswith(event_type):
                yield from pattern.names or ()
