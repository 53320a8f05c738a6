"""Verifies one tree: explores all behaviours within bounds, and judges its properties."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from bt_runtime import NodeDefinition, Registry, TreeDefinition
from bt_runtime.text.phrases import counted
from oracle.agent.nodes import REGISTRY
from oracle.authoring.verifying.doubts import arguments_of, doubts_of, doubts_of_rule
from oracle.authoring.verifying.events import Start
from oracle.authoring.verifying.exploring import Bounds, Exploration, Explored, Watch
from oracle.authoring.verifying.identity import Identity
from oracle.authoring.verifying.options import Options, deliveries_of
from oracle.authoring.verifying.parts import STANDARD_TOOLS
from oracle.authoring.verifying.properties import (
    BUILT_IN,
    REACHABLE,
    Property,
    named,
    policy_tools,
    rule_properties,
    rule_states,
)
from oracle.authoring.verifying.reaching import SHARE, PlainOptions, Reaching, Unreached
from oracle.authoring.verifying.reads import Reads, reads_of
from oracle.authoring.verifying.replies import Vocabulary
from oracle.authoring.verifying.report import Report, Result
from oracle.authoring.verifying.stories import tell, where
from oracle.authoring.verifying.world import World
from oracle.core.loading import collector_paused
from oracle.core.logs.configuring import quiet
from oracle.decision import AgentConfig
from oracle.tools import Tool

DEFAULT_TURNS: Final = 3
"""Enough for each repetition that the product counts: three empty responses, three turns without a signal."""

QUESTIONS: Final[dict[str, str]] = {
    "code": "Where is the class RetryPolicy defined in the code?",
    "documentation": "What do our meeting notes in the vault say about the release?",
    "research": "Search the web for the latest release of PostgreSQL.",
    "conversational": "Hello there!",
    "action": "Write a note about the release plan into the vault.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is explored.

    Args:
        turns: the user's `max_iterations`.
        bounds: where the exploration stops.
        tools: what the service has; only their names, groups and whether they write matter.
        registry: the kinds of the tree.
        stop_early: stop at the first violation.
    """

    turns: int = DEFAULT_TURNS
    bounds: Bounds = field(default_factory=Bounds)
    tools: Sequence[Tool] = STANDARD_TOOLS
    registry: Registry = REGISTRY
    stop_early: bool = False


def verify(definition: TreeDefinition, scope: Scope | None = None, *, watch: Watch = lambda _: True) -> Report:
    """Explore all behaviours of a tree, and judge the properties that every tree must have.

    Works for seconds without a pause: a program that does other things at the same time runs it in a process of its
    own. Logs nothing.

    Args:
        definition: a checked tree.
        scope: what is explored; `None`: the defaults.
        watch: sees how far the exploration has come, and may stop it; what was found by then is reported.
    """
    scope = scope or Scope()
    opaque = next((node for node in definition.nodes() if not node.facts.is_storable), None)
    if opaque is not None:
        return _undecided(definition, scope, opaque)
    with quiet(), collector_paused():
        passes = _explored(definition, scope, watch)
        properties = (*BUILT_IN, *rule_properties(definition))
        results = tuple(_judged(each, passes, scope, watch) for each in properties)
    world, explored = passes[-1]
    return Report(
        tree=definition.name,
        results=results,
        turns=world.turn_limit,
        states=explored.states,
        transitions=explored.transitions,
        ends=explored.ends,
        seconds=explored.seconds,
        megabytes=explored.megabytes,
        bound=explored.stopped,
    )


def _explored(definition: TreeDefinition, scope: Scope, watch: Watch) -> list[tuple[World, Explored]]:
    """The explorations for a limit of one turn, of two, and so on, the cheapest first; a bound ends the last one.

    Each takes several times as long as the one before it. Those with fewer turns say for how many turns the
    properties hold, should the last one not end.
    """
    passes: list[tuple[World, Explored]] = []
    until_s = time.process_time() + scope.bounds.seconds
    most = exploration_of(definition, scope).world.turn_limit
    for turns in range(most if scope.stop_early else 1, most + 1):
        exploration = exploration_of(definition, replace(scope, turns=turns))
        exploration.watch = watch
        passes.append((exploration.world, exploration.run(until_s=until_s)))
        if passes[-1][1].stopped:
            break
    return passes


def _undecided(definition: TreeDefinition, scope: Scope, node: NodeDefinition) -> Report:
    """The report on a tree of which nothing can be said, because of a node."""
    problem = f"not decided: what the behaviour at {node.path} ({where(node)}) remembers cannot be stored and restored"
    results = tuple(
        Result(each.name, each.text, "not_decided", problem, is_rule=each.is_rule)
        for each in (*BUILT_IN, *rule_properties(definition))
    )
    return Report(definition.name, results, scope.turns, bound="a behaviour of py_trees")


def exploration_of(definition: TreeDefinition, scope: Scope, *, options: type[Options] = Options) -> Exploration:
    """The exploration of a tree, before it has begun.

    Args:
        options: the class that lists the events of a state.
        scope: the turns, tools, kinds and bounds of the exploration.
        definition: the tree.
    """
    reads = reads_of(definition)
    questions = _questions(reads, definition)
    config = AgentConfig(max_iterations=scope.turns)
    world = World(definition, config=config, tools=scope.tools, question=questions[0], registry=scope.registry)
    types = world.rules.monitors.types if world.rules else frozenset[str]()
    return Exploration(
        world,
        identity=Identity(world, reads, is_exact=bool(types)),
        options=options(
            reads,
            Vocabulary(
                reads,
                tools=tuple(dict.fromkeys((*named(definition, "tool"), *policy_tools(definition)))),
                signals=named(definition, "signal"),
                arguments=arguments_of(definition),
            ),
            deliveries=deliveries_of(definition, reads),
        ),
        properties=(*BUILT_IN, *rule_properties(definition)),
        begins=[Start(question) for question in questions],
        extra=rule_states(world),
        bounds=scope.bounds,
        stop_early=scope.stop_early,
    )


def _questions(reads: Reads, definition: TreeDefinition) -> list[str]:
    """The questions that the tree can distinguish; they decide which tools are offered, too."""
    if named(definition, "tool") or policy_tools(definition):
        return [QUESTIONS["code"], QUESTIONS["action"]]
    if not reads.keys & {"query_type", "question"}:
        return [QUESTIONS["code"]]
    return [*QUESTIONS.values(), *(f"{QUESTIONS['code']} {text}" for text in reads.texts_of("question"))]


def _judged(each: Property, passes: Sequence[tuple[World, Explored]], scope: Scope, watch: Watch) -> Result:
    """The verdict on one property; where the last exploration was stopped, those with fewer turns count as well."""
    stopped, definition = passes[-1][1].stopped, passes[-1][0].definition
    reads = reads_of(definition)
    for world, explored in reversed(passes if stopped else passes[-1:]):
        if found := explored.found.get(each.name, ()):
            story, *others = [
                tell(world, one.events, name=f"{each.name}: {one.problem.splitlines()[0]}", repeats=one.repeats)
                for one in found
            ]
            return Result(each.name, each.text, "refuted", found[0].problem, story, each.is_rule, tuple(others))
    if each is REACHABLE:
        visited = frozenset[int]().union(*(explored.visited for _, explored in passes))
        return _reachability(stopped, visited, definition, reads, scope, watch)
    # Why it is not proven, although nothing has refuted it.
    rules = {f"rule {rule.name}": rule for rule in definition.rules}
    own = doubts_of_rule(rules[each.name], definition, reads) if each.is_rule else ()
    doubts = (*doubts_of(definition, reads), *own)
    if stopped:
        held = "" if doubts or len(passes) == 1 else f"; holds for up to {counted(len(passes) - 1, 'turn')}"
        problem = f"not decided within {stopped}{held}"
        return Result(each.name, each.text, "not_decided", problem, is_rule=each.is_rule)
    if doubts:
        return Result(each.name, each.text, "not_decided", "\n".join(doubts), is_rule=each.is_rule)
    return Result(each.name, each.text, "proven", is_rule=each.is_rule)


def _reachability(
    stopped: str, visited: frozenset[int], definition: TreeDefinition, reads: Reads, scope: Scope, watch: Watch
) -> Result:
    """The verdict on the nodes: those that the exploration has not reached are looked for in more turns."""
    name, text = REACHABLE.name, REACHABLE.text
    unreached = Unreached.of(definition, visited, registry=scope.registry)
    if unreached.impossible:
        return Result(name, text, "refuted", unreached.refutation)
    turns = _turns_of_search(reads, scope)
    left = unreached.possible
    if left:
        wider = exploration_of(definition, replace(scope, turns=turns), options=PlainOptions)
        wider.watch = watch
        left -= Reaching(wider, reads.keys).reached(left, most=scope.bounds.states // SHARE)
    if not left:
        return Result(name, text, "proven")
    within = stopped or counted(scope.turns, "turn")
    problem = f"not decided within {within}; a search in {counted(turns, 'turn')} has not reached it either"
    lines = (problem, *doubts_of(definition, reads), *unreached.lines(left))
    return Result(name, text, "not_decided", "\n".join(lines))


def _turns_of_search(reads: Reads, scope: Scope) -> int:
    """How many turns a run may have that is looked for: some more, and as many as the tree counts."""
    most: int = AgentConfig.model_fields["max_iterations"].metadata[1].le
    return min(most, max(2 * scope.turns, int(reads.largest_number) + 1))
