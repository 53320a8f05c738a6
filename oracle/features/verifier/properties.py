"""The properties that every tree must have, and its rules, as checks of a run after each event.

A check looks at one world. It returns what is wrong, as a sentence, or an empty text.

What the events that are tried cannot decide is a doubt; a property that depends on it is not proven:

- A rule's condition about arguments of tools is decided if arguments that make it true, and others that make it false,
  are tried. They are made of the constants of the condition.
- A condition about texts or numbers that the model, a tool or the outside chooses freely is not decided.
"""

import ast
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, Final

from bt_runtime import EventPattern, ExpressionError, Rule, TreeDefinition
from bt_runtime.language.expressions.syntax import parse
from bt_runtime.language.kind import ExpressionUse, KeyUse
from bt_runtime.language.rule import ACTION_LABELS
from bt_runtime.rules.monitors import condition_of
from bt_runtime.text.data import dataclass
from oracle.agent.nodes.events import IS_APPROVED
from oracle.agent.nodes.tool_calls import ApprovedCalls, RunToolsSettings
from oracle.core.chunks import Closing, Content, Done, Failed
from oracle.features.verifier.parts import STANDARD_TOOLS
from oracle.features.verifier.reads import Reads
from oracle.features.verifier.world import World
from oracle.tools.protocol import READS, WRITES


@dataclass(frozen=True, slots=True)
class Property:
    """One property.

    Args:
        name: unique among the properties of a tree.
        text: the sentence for people.
        check: what is wrong after an event; empty if nothing is. `None`: it is about all runs together.
        is_rule: the tree declares it.
        is_of_end: it is about the end of a run, so that each way to end is a story of its own.
    """

    name: str
    text: str
    check: Callable[[World], str] | None = None
    is_rule: bool = False
    is_of_end: bool = False


def _ends(world: World) -> str:
    error = world.progress.error
    return "" if error is None else f"the run was ended by force: {error}"


def _turns(world: World) -> str:
    turn, limit = world.agent.state.turn, world.turn_limit
    return f"{turn} turns were made, and the limit is {limit}" if turn > limit else ""


def _one_done(world: World) -> str:
    if not world.progress.is_over:
        return "" if not any(isinstance(chunk, Done) for chunk in world.chunks[:-1]) else "a chunk came after `done`"
    count = sum(isinstance(chunk, Done) for chunk in world.chunks)
    if count != 1:
        return f"`done` was sent {count} times"
    return "" if isinstance(world.chunks[-1], Done) else "a chunk came after `done`"


def _saved(world: World) -> str:
    if not world.progress.is_over:
        return ""
    if not world.store.saved:
        told = any(isinstance(chunk, Failed) and "could not be saved" in chunk.error for chunk in world.chunks)
        return "" if told else "the conversation was not saved, and the user was not told"
    if len(world.store.saved) > 1:
        return "the conversation was saved twice"
    said = "".join(chunk.content for chunk in world.chunks if isinstance(chunk, Content | Closing))
    return "" if world.store.saved[0].answer == said else "the conversation has another text than the user read"


def _cancel_wins(world: World) -> str:
    progress = world.progress
    if progress.reason_at_cancel is None:
        return ""
    if progress.began_after_cancel:
        return f"{progress.began_after_cancel} began after the cancel"
    reason = world.agent.state.termination_reason
    is_free = not progress.is_over or progress.reason_at_cancel or world.store.attempts > len(world.store.saved)
    return "" if is_free or reason == "user_cancelled" else f"the user cancelled, and the reason is {reason}"


def _reason(world: World) -> str:
    if not world.progress.is_over:
        return ""
    agent, reason = world.agent, world.agent.state.termination_reason
    if reason is None:
        return "there is no reason"
    if agent.fault is not None and agent.fault.error_type == "tree_failed" and reason == "error":
        return "" if world.progress.has_crashed else f"the control failed: {agent.fault.cause}{_remedy(world)}"
    if reason != "user_cancelled" and not agent.output.answer.strip():
        return f"the run ended ({reason}) without an answer and without an explanation"
    return ""


def _remedy(world: World) -> str:
    """What the tree must have, where the query has failed because the tree lacks it; as a further line."""
    last = world.agent.turn.outcome
    if world.agent.ending.problem:
        return ""
    if last is None:
        return "\non each way to its end the tree must have a turn of the answer (`llm_turn`), or a `say` and a `stop`"
    if last.calls:
        return "\nafter a response that calls tools the tree must have `run_tools` and another turn, or a `stop`"
    return "\nthe tree must stop for a reason that is true, such as completed or stuck"


def _no_errors(world: World) -> str:
    path = world.progress.node_error
    return "" if not path else f"{path} raised: {world.progress.node_problem}"


REACHABLE: Final = Property("reachable", "Every node is reached in some run.")
ENDS: Final = Property("ends", "Every run ends: no loop runs without counting towards a limit.", _ends)

BUILT_IN: Final[tuple[Property, ...]] = (
    ENDS,
    Property("turn-limit", "No run has more turns than its limit.", _turns),
    Property("one-done", "Every run sends exactly one `done`, as its last chunk.", _one_done),
    Property("saved", "The answer is saved in the conversation, or the user is notified that it could not be.", _saved),
    Property(
        "cancel-wins",
        "After a cancel no turn and no tool call begins, and the reason is `user_cancelled` unless one was set before.",
        _cancel_wins,
    ),
    Property(
        "reason",
        "Every run ends for a reason that the tree set, with an answer or an explanation.",
        _reason,
        is_of_end=True,
    ),
    Property("no-errors", "No node raises an error, such as comparing a number with `null`.", _no_errors),
    REACHABLE,
)


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
        A function of the state now: how far the run has come with each rule, the notifications that its rules have
        not seen yet, and what was read that approvals depend on.
    """
    rules, agent, tools = world.rules, world.agent, world.tools
    after = {each.after for each in policies_of(world.definition) if each.after is not None}

    def read() -> Hashable:
        tried = agent.state.tools_tried if after else ()
        return frozenset(label for name in tried for label in tools.flows(name) if label in after)

    if rules is None:
        return read if after else lambda: None
    stream = rules.stream
    counts_turns = any(
        not {"number", "turns"}.isdisjoint(names_in(each)) for _, each in conditions_of(world.definition.rules)
    )

    def states() -> Hashable:
        remarks = tuple([str(event) for event in stream.remarks])
        return rules.states, remarks, stream.turns if counts_turns else None, read()

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


def labels_asked(definition: TreeDefinition) -> tuple[str, ...]:
    """The labels that rules and approvals tell tools apart by, in order; none if nothing does."""
    conditions = [each for _, each in conditions_of(definition.rules) if ACTION_LABELS in names_in(each)]
    words = {each.value for one in conditions for each in ast.walk(parse(one.where)) if isinstance(each, ast.Constant)}
    words |= {label for each in policies_of(definition) for label in (each.after, each.writes)}
    return tuple(label for label in (*READS, *WRITES) if label in words)


def policies_of(definition: TreeDefinition) -> Iterator[ApprovedCalls]:
    """Which calls a person must approve."""
    for node in definition.nodes():
        if isinstance(node.settings, RunToolsSettings):
            yield from node.settings.policy


def policy_tools(definition: TreeDefinition) -> tuple[str, ...]:
    """The tools that these policies name; for a pattern without labels the tool that stands for what it covers."""
    found = (each.tool if each.is_exact else _standing_for(each) for each in policies_of(definition))
    return tuple(dict.fromkeys(name for name in found if name))


def _standing_for(policy: ApprovedCalls) -> str:
    """A tool that a pattern covers, rather one that writes; empty for labels, which have tools of their own."""
    if policy.writes or policy.after:
        return ""
    writing_first = sorted(STANDARD_TOOLS, key=lambda tool: not tool.writes)
    return next((tool.name for tool in writing_first if policy.covers(tool.name)), "")


def _names(definition: TreeDefinition, event_type: str) -> Iterator[str]:
    for rule in definition.rules:
        for pattern in (*rule.events, *((rule.after,) if rule.after else ())):
            if pattern.type.startswith(event_type):
                yield from pattern.names or ()


Arguments = tuple[tuple[str, Any], ...]

_FREE: Final = frozenset(
    {
        *("question", "signal_reason", "capability", "blocker", "suggestions"),
        *("sources", "tokens_used", "pending_calls", "seconds_left"),
    }
)
"""Keys whose values are not all tried."""

_FREE_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "tool_result": frozenset({"result"}),
    "signal": frozenset({"reason", "confidence"}),
    "turn_end": frozenset({"tool_calls"}),
    "end": frozenset({"tokens"}),
    "delivery": frozenset({"value"}),
}
_MOST_ARGUMENTS = 500


def doubts_of(definition: TreeDefinition, reads: Reads) -> tuple[str, ...]:
    """Why no property of the tree is proven; empty if nothing stands against it."""
    found = []
    if "sources" in reads.keys:
        found.append("the tree reads `sources`, and the tools that are tried bring none")
    if numbers := reads.numbers_of("tokens_used"):
        shown = ", ".join(f"{number:g}" for number in numbers)
        found.append(f"the tree compares `tokens_used` with {shown}; tried are 0, 55, 97 and 100 % of the budget")
    if "seconds_left" in reads.keys:
        found.append("the tree reads `seconds_left`, and time passes only where something hangs until a limit")
    if "pending_calls" in reads.keys:
        found.append("the tree reads `pending_calls`, and few arguments are tried")
    undeclared = dict.fromkeys(node.kind for node in definition.nodes() if not node.facts.are_declared)
    found += [f"the kind {kind!r} does not declare what it reads and keeps (`facts`)" for kind in undeclared]
    for name in sorted(reads.keys & definition.keys.keys()):
        key = definition.keys[name]
        if key.deliverable and key.type not in ("bool", "str", "int", "float"):
            found.append(f"the tree reads {name!r}, of whose values from outside none is tried")
    return tuple(found)


def doubts_of_rule(rule: Rule, definition: TreeDefinition, reads: Reads) -> tuple[str, ...]:
    """Why a rule is not proven, even if nothing has broken it."""
    return tuple(
        f"the events that are tried do not decide the condition {pattern.where!r}"
        for _, pattern in conditions_of((rule,))
        if not _is_decided(pattern, definition, reads)
    )


def _is_decided(pattern: EventPattern, definition: TreeDefinition, reads: Reads) -> bool:
    if pattern.type == "tool":
        return names_in(pattern) <= {IS_APPROVED, ACTION_LABELS} or len(arguments_for(pattern)) > 1
    if pattern.type == "approval":
        return names_in(pattern) <= {"is_edited"}
    if pattern.type == "tool_result":
        return names_in(pattern) <= {"is_error", ACTION_LABELS}
    if pattern.type == "key":
        keys = frozenset(pattern.names or definition.keys)
        asks_whether_empty = pattern.where.strip() in {"value", "not value"}
        return asks_whether_empty or keys.isdisjoint(_free_keys(definition, reads))
    return names_in(pattern).isdisjoint(_FREE_FIELDS.get(pattern.type, frozenset()))


def _free_keys(definition: TreeDefinition, reads: Reads) -> frozenset[str]:
    """The keys whose values are chosen freely outside of the tree, or made of such values."""
    free = set(_FREE | reads.into)
    free |= {name for name, key in definition.keys.items() if key.deliverable}
    while True:
        more = {key for node in definition.nodes() for key in _written(node, free)} - free
        if not more:
            return frozenset(free)
        free |= more


def _written(node: Any, free: set[str]) -> Iterator[str]:  # noqa: ANN401  a node's definition
    """The keys that a node writes, if it reads one of those."""
    uses = tuple(node.settings.uses())
    words = {
        name.id
        for use in uses
        if isinstance(use, ExpressionUse)
        for name in ast.walk(parse(use.text))
        if isinstance(name, ast.Name)
    }
    if not {node.private.get(word, word) for word in words}.isdisjoint(free):
        yield from (
            node.private.get(use.key, use.key) for use in uses if isinstance(use, KeyUse) and use.access == "write"
        )


def arguments_of(definition: TreeDefinition) -> tuple[tuple[Sequence[str], Arguments], ...]:
    """The arguments that the rules of a tree distinguish, each with the names of the tools; no names stand for any."""
    patterns = [pattern for _, pattern in conditions_of(definition.rules) if pattern.type == "tool"]
    for each in policies_of(definition):
        if each.when is not None:
            names = (each.tool,) if each.is_exact else None
            patterns.append(EventPattern("tool", names, each.when, fields=None))
    return tuple((pattern.names or (), arguments) for pattern in patterns for arguments in arguments_for(pattern))


def arguments_for(pattern: EventPattern) -> tuple[Arguments, ...]:
    """Arguments that make the condition of a pattern true, and others that make it false, as far as there are any."""
    names = sorted(names_in(pattern) - {IS_APPROVED, ACTION_LABELS})
    condition, found = condition_of(pattern), dict[bool, Arguments]()
    constants = [each.value for each in ast.walk(parse(pattern.where)) if isinstance(each, ast.Constant)]
    beside = [value + step for value in constants if isinstance(value, int | float) for step in (1, -1)]
    candidates = [*dict.fromkeys([*constants, *beside, "something else", True, False])]
    values_of = islice(product(candidates, repeat=len(names)), _MOST_ARGUMENTS)
    for values, is_approved, labels in product(values_of, (False, True), ((), (*READS, *WRITES))):
        fields = dict(zip(names, values, strict=True))
        try:
            holds = bool(condition.evaluate({**fields, IS_APPROVED: is_approved, ACTION_LABELS: labels}.get))
        except ExpressionError:
            continue
        found.setdefault(holds, tuple(fields.items()))
    return tuple(found.values())
