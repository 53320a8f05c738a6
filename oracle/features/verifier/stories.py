"""A counterexample as a story: what happened, step by step, and which nodes acted; and as a scenario.

Some events have no form in a scenario: a conversation that cannot be saved, an error in the service, and interruptions
in the very moment in which something ends. The scenario says so then, and goes on without them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import PurePath
from typing import Any, Final

from bt_runtime import NodeDefinition, Request, Status, TickRecord, TreeDefinition
from bt_runtime.language.kind import CALLS_HOST
from bt_runtime.nodes.base import Node
from bt_runtime.text.data import dataclass
from oracle.agent.nodes.roles import ASKS_MODEL, FINISHES, RUNS_CALLS
from oracle.core.chunks import ApprovalRequested, Chunk, Closing, Done, QuestionAsked, SystemNotice, ToolReturned
from oracle.core.encoding import to_json
from oracle.features.scenarios.files import to_yaml
from oracle.features.scenarios.model import (
    Moment,
    OutsideEvent,
    PersonDecides,
    Scenario,
    ToolAnswer,
    ToolScript,
    Turn,
)
from oracle.features.verifier.events import (
    PLAIN,
    QUESTION,
    ActionEnded,
    Cancelled,
    Decided,
    Delivered,
    Event,
    Replied,
    Reply,
    Result,
    SaveEnded,
    Start,
    TimePassed,
    ToolsEnded,
    WorkEnded,
)
from oracle.features.verifier.parts import ADDED
from oracle.features.verifier.world import PARTIAL, World
from oracle.runs.record.ticks import plain_tick

_NEVER_S: Final = 1e6


@dataclass(slots=True)
class Script:
    """Collects the parts of a scenario while a story is played.

    Args:
        missing: what happened in the story and has no form in a scenario.
        decisions: of people, by what they were asked.
        together: decisions so far about what was asked together.
    """

    turns: list[Turn] = field(default_factory=list)
    answers: dict[str, list[ToolAnswer]] = field(default_factory=dict)
    events: list[OutsideEvent] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    decisions: dict[str, PersonDecides] = field(default_factory=dict)
    together: int = 0

    def note(self, event: Event, world: World) -> None:
        """Take an event, before it is played."""
        match event:
            case Replied(_, reply):
                self._reply(reply, world)
            case ToolsEnded(_, results):
                names = [call.name for call in world.run_by(event.request)]
                for name, result in zip(names, results, strict=False):
                    self._answer(name, result, world)
            case ActionEnded(key, result):
                request = next(each for each in world.under_way if each.key == key)
                self._answer(request.node.settings.call, result, world)
            case Cancelled(part) | TimePassed(part):
                self._interrupt(event, part, world)
            case SaveEnded(_, fails) if fails:
                self.missing.append("the conversation cannot be saved")
            case Decided():
                self._decide(event, world)
            case Delivered():
                self.missing.append("a value comes from outside")
            case WorkEnded():
                self.missing.append("work of another kind ends")
            case _:
                pass

    def _decide(self, event: Decided, world: World) -> None:
        if world.under_way:
            self.missing.append("a person decides while work goes on")
        asked = tuple(world.agent.output.pending)
        is_one_of_several = len(asked) > 1 or self.together > 0
        after_s = 0.001 * (self.together + 1) if is_one_of_several else 0.0
        self.together = self.together + 1 if len(asked) > 1 else 0
        self.decisions[asked[event.at]] = PersonDecides(decision=event.decision, value=event.says, after_s=after_s)

    def _reply(self, reply: Reply, world: World) -> None:
        if reply.crashes:
            self.missing.append("an error in the service breaks a turn")
        self.turns.append(world.turn_of(reply))

    def _answer(self, tool: str, result: Result, world: World) -> None:
        known = world.result_of(result)
        answer = ToolAnswer(error=known.text) if known.is_error else ToolAnswer(result=known.text, empty=known.is_empty)
        self.answers.setdefault(tool, []).append(answer)

    def _interrupt(self, event: Cancelled | TimePassed, part: str, world: World) -> None:
        """What is under way hangs from here on."""
        roles = {ASKS_MODEL, RUNS_CALLS, CALLS_HOST}
        requests = tuple(world.under_way)
        request = next((each for each in requests if not roles.isdisjoint(each.node.facts.roles)), None)
        if part == "whole" or request is None:
            self.missing.append("an interruption in the moment in which something ends")
            return
        moment = self._hang(request, part, world)
        if isinstance(event, Cancelled):
            self.events.append(OutsideEvent(action="cancel", moment=moment))

    def _hang(self, request: Request, part: str, world: World) -> Moment:
        node = request.node
        if ASKS_MODEL in node.facts.roles:
            text = PARTIAL if part == "some" else ""
            self.turns.append(Turn(text=text, hang=True))
            return Moment(kind="said", value=text) if text else Moment(kind="request", value=len(self.turns))
        name = node.settings.call if CALLS_HOST in node.facts.roles else world.agent.turn.open_calls[0].name
        if part == "some":
            self.answers.setdefault(name, []).append(ToolAnswer(result="What it says."))
        self.answers.setdefault(name, []).append(ToolAnswer(hang=True))
        return Moment(kind="call", value=name)

    def _people(self, chunks: Iterable[Chunk]) -> Iterator[PersonDecides]:
        """The decisions, in the order in which people were asked."""
        for chunk in chunks:
            if isinstance(chunk, ApprovalRequested | QuestionAsked):
                yield self.decisions.get(chunk.interrupt.id, PersonDecides(decision="expire", after_s=_NEVER_S))

    def _tools(self, world: World) -> Iterator[tuple[str, ToolScript]]:
        """The answers of the tools; those that the verifier has added are the scenario's own."""
        for name, answers in self.answers.items():
            tool = world.tools.get(name)
            added = tool if tool is not None and tool.group == ADDED else None
            labels = None if added is None else tuple(sorted(added.labels or ()))
            yield name, ToolScript(group=None if added is None else "code", labels=labels, answers=tuple(answers))  # type: ignore[arg-type]

    def scenario(self, world: World, *, name: str) -> Scenario:
        """The scenario of the story so far.

        Args:
            name: the name of the scenario in its file.
            world: at the end of the story.
        """
        done = next((chunk for chunk in world.chunks if isinstance(chunk, Done)), None)
        expect: dict[str, Any] = {}
        if done is not None and not self.missing:
            expect = {"reason": done.termination_reason, "turns": done.turns}
        return Scenario(
            name=name,
            question=world.question,
            tree=world.definition.name,
            limits={"max_iterations": world.agent.state.config.max_iterations},
            model=tuple(self.turns),
            tools=dict(self._tools(world)),
            events=tuple(self.events),
            people=tuple(self._people(world.chunks)),
            expect=expect,
        )


def scenario_file(scenario: Scenario, *, about: str) -> str:
    """A scenario file with this scenario alone."""
    return to_yaml([scenario], about=about)


RUN_ID: Final = "counterexample"
_MOST_ACTORS = 8
_MOST_EVENTS = 100
_RESULTS = {
    "found": "brings something new",
    "found_again": "brings the same as before",
    "nothing": "finds nothing",
    "error": "fails",
    "error_again": "fails with the same error as before",
}
_DECISIONS = {
    "approve": "A person approves:",
    "edit": "A person approves with other arguments ({}):",
    "refuse": "A person refuses:",
    "answer": "A person answers {!r} to:",
    "expire": "Nobody answers in time:",
}


@dataclass(frozen=True, slots=True)
class StoryStep:
    """One step of a story.

    Args:
        text: what happened, and what the user saw of it.
        nodes: the nodes that acted, as `path (file:line) status`.
    """

    text: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A run from the question to a violation.

    Args:
        steps: one for each event.
        records: of the ticks, as a recording of the run would have them.
        scenario: the same as a scenario, from the question to `done`.
        definition: the tree.
        repeats: how many of the last steps repeat without end.
    """

    steps: tuple[StoryStep, ...]
    events: tuple[Event, ...]
    records: tuple[TickRecord, ...]
    chunks: tuple[Chunk, ...]
    scenario: Scenario
    definition: TreeDefinition
    repeats: int = 0

    def lines(self) -> list[str]:
        """The numbered steps, each followed by the nodes that acted."""
        lines = []
        for number, step in enumerate(self.steps, start=1):
            lines += [f"{number}. {step.text}", *(f"     {node}" for node in step.nodes)]
        if self.repeats:
            first = len(self.steps) - self.repeats + 1
            what = f"Step {first} repeats" if self.repeats == 1 else f"Steps {first} to {len(self.steps)} repeat"
            lines.append(f"{what} without an end.")
        return lines


def tell(world: World, events: Sequence[Event], *, name: str, repeats: int = 0) -> Counterexample:
    """Play the events again, and tell what happens.

    Args:
        name: the name of the scenario that plays it.
        events: the events of the run, from the question on.
        world: of the same tree; what it was doing is forgotten.
        repeats: how many of the last events go round.
    """
    world.begin_again()
    records: list[TickRecord] = []
    steps: list[StoryStep] = []
    script = Script()
    nodes = world.tree.nodes
    world.on_tick = records.append
    try:
        for event in events:
            at_tick, at_chunk = len(records), len(world.chunks)
            text = _sentence(event, world)
            script.note(event, world)
            world.play(event)
            seen = _seen(world.chunks[at_chunk:])
            steps.append(StoryStep(" ".join([text, *seen]), _actors(records[at_tick:], nodes)))
    finally:
        world.on_tick = None
    chunks = tuple(world.chunks)
    if not repeats:
        _complete(world, script)
    scenario = script.scenario(world, name=name)
    return Counterexample(tuple(steps), tuple(events), tuple(records), chunks, scenario, world.definition, repeats)


def _complete(world: World, script: Script) -> None:
    """Go on to the end in the plainest way: a scenario is a whole query."""
    for _ in range(_MOST_EVENTS):
        if world.progress.is_over:
            return
        event = _plainest(world)
        if event is None:
            return
        script.note(event, world)
        world.play(event)


def _plainest(world: World) -> Event | None:
    """The plainest thing that can happen; `None` if nothing can."""
    request = next(iter(world.under_way), None)
    if request is None and world.agent.output.pending:
        return Decided(0, "refuse")
    if request is None:
        return TimePassed() if world.next_deadline_s is not None else None
    roles = request.node.facts.roles
    if FINISHES in roles:
        return SaveEnded(request.key)
    if ASKS_MODEL in roles:
        return Replied(request.key, Reply(PLAIN))
    if RUNS_CALLS in roles:
        found: Result = "found"
        return ToolsEnded(request.key, (found,) * len(world.run_by(request.key)))
    return ActionEnded(request.key, "found") if CALLS_HOST in roles else WorkEnded(request.key)


def _sentence(event: Event, world: World) -> str:
    """What happens."""
    match event:
        case Start(question):
            return f"The user asks: {question}"
        case Replied(_, reply):
            return _of_reply(reply, world)
        case ToolsEnded(request, results):
            names = dict.fromkeys(call.name for call in world.run_by(request))
            ends = [_RESULTS[result] for result in results]
            each = [f"{name} {end}" for name, end in zip([*names, *[""] * len(ends)], ends, strict=False)]
            return f"{', '.join(part.strip() for part in each)}."
        case ActionEnded(request, result):
            return f"The tool of {request.rpartition('@')[0]} {_RESULTS[result]}."
        case SaveEnded(_, fails):
            return "The conversation cannot be saved." if fails else "The conversation is saved."
        case WorkEnded(request, fails):
            return f"The work of {request.rpartition('@')[0]} {'raises an error' if fails else 'ends'}."
        case Decided() | Delivered() | Cancelled() | TimePassed():
            return _from_outside(event, world)


def _from_outside(event: Decided | Delivered | Cancelled | TimePassed, world: World) -> str:
    match event:
        case Decided(at, decision):
            asked = tuple(world.agent.output.pending.values())[at].message
            return f'{_DECISIONS[decision].format(event.says)} "{asked}"'
        case Delivered(key, value):
            return f"From outside {key!r} gets the value {value!r}."
        case Cancelled(part, calls):
            return f"The user cancels{_while(part, calls=calls)}."
        case TimePassed(part):
            return f"Time passes until {world.next_deadline_s:g} s after the question{_while(part)}."


def _while(part: str, *, calls: bool = False) -> str:
    match part:
        case "some":
            return ", when a part of the response or of the results is there"
        case "whole":
            return ", in the moment in which the response is complete" + (" and calls a tool" if calls else "")
        case _:
            return ""


def _of_reply(reply: Reply, world: World) -> str:
    if reply.crashes:
        return "An error in the service breaks the turn."
    said = {"": "says nothing", PLAIN: "writes an answer", QUESTION: "asks the user a question"}.get(
        reply.text, f"writes: {reply.text}"
    )
    if reply.is_fault:
        how = "" if reply.fault_kind == "overloaded" else f" ({reply.fault_kind})"
        return f"The model {said}, then the provider fails{how}." if reply.text else f"The provider fails{how}."
    parts = [f"The model {said}"]
    if reply.calls:
        names = [world.name_of(call) for call in reply.calls]
        parts.append(
            f"calls {' and '.join(names)}" + (" with other arguments" if reply.calls == ("read_fresh",) else "")
        )
    if reply.arguments:
        parts[-1] += " with " + ", ".join(f"{name}: {value!r}" for name, value in reply.arguments)
    if reply.signal == "malformed":
        parts.append("writes a signal that cannot be read")
    elif reply.signal:
        how = f" with confidence {reply.confidence:g}" if reply.confidence != 0.9 else ""
        again = ", for the same reason as before" if reply.same_reason else ""
        words = f" ({reply.words!r})" if reply.words else ""
        parts.append(f"signals {reply.signal}{words}{how}{again}")
    sentence = f"{', '.join(parts)}."
    ends = {
        "max_tokens": "The response is cut off by its limit of tokens.",
        "model_context_window_exceeded": "The model's context window is full.",
        "refusal": "The provider refuses the question.",
    }.get(reply.stop_reason or "", "")
    levels = {
        "half": "More than half of the token budget is used.",
        "high": "The token budget pays for one more turn.",
        "full": "The token budget is used up.",
    }.get(reply.tokens, "")
    return " ".join(part for part in (sentence, ends, levels) if part)


def _seen(chunks: Sequence[Chunk]) -> list[str]:
    """What the user sees of the control."""
    seen = []
    for chunk in chunks:
        if isinstance(chunk, SystemNotice):
            seen.append(f"Notification: {chunk.system_message}")
        elif isinstance(chunk, Closing):
            seen.append(f"The user reads: {chunk.content}")
        elif isinstance(chunk, ToolReturned) and chunk.tool_result.startswith("Not run"):
            seen.append(f"The call gets the result: {chunk.tool_result}")
    return seen


def _actors(records: Sequence[TickRecord], nodes: Sequence[Node[Any]]) -> tuple[str, ...]:
    """The leaves that did something: actions that ended or wait, guards that tripped, conditions that were true."""
    actors = []
    for record in records:
        changed = dict(record.changes)
        for index in dict.fromkeys(record.visited):
            node, status = nodes[index], changed.get(index)
            said_no = status is Status.FAILURE and node.kind.category == "condition"
            goes_on = status is Status.SUCCESS and node.kind.category == "guard"
            if status is not None and not (node.child_nodes or said_no or goes_on):
                actors.append(f"{node.definition.label} ({where(node.definition)}) {status.name}")
        actors += [f"{error.path}: {error.error}" for error in record.errors]
    short = list(dict.fromkeys(actors))
    more = len(short) - _MOST_ACTORS
    return (*short[:_MOST_ACTORS], *([f"and {more} more"] if more > 0 else ()))


def where(node: NodeDefinition) -> str:
    """The place of a node, as `file:line`."""
    return f"{PurePath(node.place.file).name}:{node.place.line}"


def recording_of(story: Counterexample) -> bytes:
    """The recorded ticks as a JSON object: `{run_id, tree, version, nodes, ticks, next}`."""
    return to_json(
        {
            "run_id": RUN_ID,
            "tree": story.definition.name,
            "version": story.definition.sha,
            "nodes": list(story.definition.paths),
            "ticks": [plain_tick(record) for record in story.records],
            "next": None,
        }
    )
