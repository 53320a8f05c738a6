"""Verifies one tree: explores all behaviours within bounds, judges its properties, and reports the verdicts."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, Literal

from bt_runtime import NodeDefinition, Registry, TreeDefinition
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import counted
from oracle.agent.nodes import REGISTRY
from oracle.authoring.trials import TrialGround
from oracle.core.loading import collector_paused
from oracle.core.logs import quiet
from oracle.decision import AgentConfig
from oracle.domains.domain import domain_in
from oracle.features.verifier.events import Start, Vocabulary
from oracle.features.verifier.exploring import INTERRUPTED, Bounds, Exploration, Explored, Watch, why_stopped
from oracle.features.verifier.identity import Identity
from oracle.features.verifier.options import Options, deliveries_of
from oracle.features.verifier.parts import STANDARD_TOOLS, labelled
from oracle.features.verifier.properties import (
    BUILT_IN,
    REACHABLE,
    Property,
    arguments_of,
    doubts_of,
    doubts_of_rule,
    labels_asked,
    named,
    policy_tools,
    rule_properties,
    rule_states,
)
from oracle.features.verifier.reaching import SHARE, PlainOptions, Reaching, Unreached
from oracle.features.verifier.reads import Reads, reads_of
from oracle.features.verifier.stories import Counterexample, tell, where
from oracle.features.verifier.world import World
from oracle.tools import Tool

Verdict = Literal["proven", "refuted", "not_decided"]

WORDS: Final[dict[Verdict, str]] = {"proven": "proven", "refuted": "REFUTED", "not_decided": "not decided"}


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one property.

    Args:
        text: the sentence for people.
        verdict: `proven` within the bounds, `refuted` by a counterexample, or `not_decided`.
        problem: what is wrong, or why it is not decided; empty if it is proven.
        story: the shortest counterexample; `None` if there is none.
        is_rule: the tree declares the property.
        others: further counterexamples, in which something else is wrong or other nodes lead to it.
    """

    name: str
    text: str
    verdict: Verdict
    problem: str = ""
    story: Counterexample | None = None
    is_rule: bool = False
    others: tuple[Counterexample, ...] = ()

    def lines(self) -> list[str]:
        """What is wrong, and the stories."""
        lines = [*self.problem.splitlines(), *(self.story.lines() if self.story else [])]
        for story in self.others:
            lines += ["Another way:", *story.lines()]
        return lines


@dataclass(frozen=True, slots=True)
class Report:
    """The verdicts on one tree.

    Args:
        tree: its name.
        results: in the order of the properties.
        turns: the most turns of a run that was explored.
        states: different states.
        transitions: events that were played.
        ends: of these, those that ended a run.
        megabytes: the most memory that the process has had.
        bound: what stopped the exploration; empty if it is complete.
    """

    tree: str
    results: tuple[Result, ...]
    turns: int
    states: int = 0
    transitions: int = 0
    ends: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    bound: str = ""

    @property
    def verdict(self) -> Verdict:
        """The worst of all verdicts."""
        verdicts = {result.verdict for result in self.results}
        order: tuple[Verdict, ...] = ("refuted", "not_decided")
        return next((verdict for verdict in order if verdict in verdicts), "proven")

    def result(self, name: str) -> Result:
        """The verdict on the property of that name.

        Raises:
            KeyError: there is none.
        """
        try:
            return next(result for result in self.results if result.name == name)
        except StopIteration:
            raise KeyError(name) from None

    def lines(self) -> list[str]:
        """The report as text; why several properties are not decided is said once, below them."""
        done = why_stopped(self.bound) if self.bound else "complete"
        problems = [result.problem for result in self.results if result.verdict == "not_decided"]
        shared = next((problem for problem in problems if problems.count(problem) > 1), None)
        lines = [f"{self.tree}: {WORDS[self.verdict]}"]
        width = max((len(result.name) for result in self.results), default=0)
        for result in self.results:
            lines.append(f"  {WORDS[result.verdict]:<11}  {result.name:<{width}}  {result.text}")
            lines += [f"      {line}" for line in result.lines() if result.problem != shared]
        if shared is not None:
            lines += [f"  not decided: {line}" for line in shared.splitlines()]
        lines.append(
            f"  explored: up to {counted(self.turns, 'turn')}, {self.states:,} states, {self.transitions:,} "
            f"transitions, {self.ends:,} ends; {self.seconds:.1f} s, {self.megabytes:.0f} MB; {done}"
        )
        return lines

    def to_json(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "tree": self.tree,
            "verdict": self.verdict,
            "properties": [
                {
                    "name": result.name,
                    "text": result.text,
                    "verdict": result.verdict,
                    "problem": result.problem,
                    "is_rule": result.is_rule,
                    "story": None if result.story is None else result.story.lines(),
                    "other_stories": [story.lines() for story in result.others],
                }
                for result in self.results
            ],
            "bounds": {"turns": self.turns, "stopped_at": self.bound or None},
            "states": self.states,
            "transitions": self.transitions,
            "ends": self.ends,
            "seconds": round(self.seconds, 3),
            "megabytes": round(self.megabytes, 1),
        }


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


def try_verification(ground: TrialGround, of: str, turns: int, bounds: Mapping[str, Any]) -> dict[str, Any]:
    """Verify the tree `of` with the text of a trial in place."""
    scope = Scope(turns=turns, bounds=Bounds(**bounds), registry=ground.library.registry)
    return verify(ground.tree(of, samples=True), scope).to_json()


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
    problem = f"what the behaviour at {node.path} ({where(node)}) remembers cannot be stored and restored"
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
    questions = _questions(reads, definition, domain_in(scope.registry).examples)
    config = AgentConfig(max_iterations=scope.turns)
    standing_for = labelled(labels_asked(definition))
    tools = (*scope.tools, *standing_for)
    world = World(definition, config=config, tools=tools, question=questions[0], registry=scope.registry)
    types = world.rules.monitors.types if world.rules else frozenset[str]()
    return Exploration(
        world,
        identity=Identity(world, reads, is_exact=bool(types or standing_for)),
        options=options(
            reads,
            Vocabulary(
                reads,
                tools=tuple(
                    dict.fromkeys(
                        (*named(definition, "tool"), *policy_tools(definition), *(tool.name for tool in standing_for))
                    )
                ),
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


def _questions(reads: Reads, definition: TreeDefinition, examples: Sequence[str]) -> list[str]:
    """The questions that the tree can distinguish; they decide which tools are offered, too."""
    if examples:
        return [*examples, *(f"{examples[0]} {text}" for text in reads.texts_of("question"))]
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
        held = "" if doubts or len(passes) == 1 else f"; proven for up to {counted(len(passes) - 1, 'turn')}"
        problem = f"{why_stopped(stopped)}{held}"
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
    turns, left, is_interrupted = _turns_of_search(reads, scope), unreached.possible, stopped == INTERRUPTED
    if left and not is_interrupted:
        wider = exploration_of(definition, replace(scope, turns=turns), options=PlainOptions)
        wider.watch = watch
        left -= Reaching(wider, reads.keys).reached(left, most=scope.bounds.states // SHARE)
        is_interrupted = not wider.goes_on()
    if not left:
        return Result(name, text, "proven")
    within = why_stopped(stopped) if stopped else f"not reached in {counted(scope.turns, 'turn')}"
    problem = f"{within}; a search in {counted(turns, 'turn')} has not reached them either"
    if is_interrupted:
        problem = f"{why_stopped(INTERRUPTED)} before these were reached"
    lines = (problem, *doubts_of(definition, reads), *unreached.lines(left))
    return Result(name, text, "not_decided", "\n".join(lines))


def _turns_of_search(reads: Reads, scope: Scope) -> int:
    """How many turns a run may have that is looked for: some more, and as many as the tree counts."""
    most: int = AgentConfig.model_fields["max_iterations"].metadata[1].le
    return min(most, max(2 * scope.turns, int(reads.largest_number) + 1))
