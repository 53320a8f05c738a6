"""A counterexample as a scenario: the same turns, tools and interruptions, for `oracle trees test`.

Some events have no form in a scenario: a conversation that cannot be saved, an error in the service, and interruptions
in the very moment in which something ends. The scenario says so then, and goes on without them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from bt_runtime import Request
from bt_runtime.language.kind import CALLS_HOST
from oracle.agent.nodes.roles import ASKS_MODEL, RUNS_CALLS
from oracle.authoring.scenarios import to_yaml
from oracle.authoring.scenarios.model import (
    Moment,
    OutsideEvent,
    PersonDecides,
    Scenario,
    ToolAnswer,
    ToolScript,
    Turn,
)
from oracle.authoring.verifying.events import (
    ActionEnded,
    Cancelled,
    Decided,
    Delivered,
    Event,
    Replied,
    SaveEnded,
    TimePassed,
    ToolsEnded,
    WorkEnded,
)
from oracle.authoring.verifying.replies import Reply, Result
from oracle.authoring.verifying.world import PARTIAL, World
from oracle.core.chunks import ApprovalRequested, Chunk, Done, QuestionAsked

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
            tools={tool: ToolScript(answers=tuple(answers)) for tool, answers in self.answers.items()},
            events=tuple(self.events),
            people=tuple(self._people(world.chunks)),
            expect=expect,
        )


def scenario_file(scenario: Scenario, *, about: str) -> str:
    """A scenario file with this scenario alone."""
    return to_yaml([scenario], about=about)
