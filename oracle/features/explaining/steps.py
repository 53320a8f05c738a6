"""What the tree does in a situation, step by step, in words."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, Final

from bt_runtime import Outcome, TickRecord
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import clipped, counted, listed
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.tool_calls import NOT_RUN, OWN_CALL
from oracle.core.chunks import Answered, ApprovalRequested, Interrupt, QuestionAsked, ToolCall, ToolCalled, ToolReturned
from oracle.features.explaining.acting import EDITED
from oracle.features.explaining.situations import FAILED
from oracle.features.scenarios.played import Asked
from oracle.features.scenarios.playing import BEGINNING
from oracle.features.scenarios.stage import shipped_tools

TOLD: Final = "told “"
_ASKED: Final = {"user": "the user", "operator": "an operator", "not_asker": "a person other than the user"}
_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
_UNSEEN: Final = " unseen by the user"
_MOST_STEPS: Final = 8
_MOST_NOTES: Final = 3
_LONGEST: Final = 240
_LONGEST_CYCLE: Final = 8
QUOTED: Final = 70


@dataclass(slots=True)
class Steps:
    """The steps of the tree, as they come."""

    own_words: Sequence[str]
    asked: Sequence[Asked]
    runs: Sequence[tuple[str, Mapping[str, Any]]]
    writing: Collection[str]
    may_write: bool
    steps: list[str] = field(default_factory=list)
    now_s: float = 0.0
    failed: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    writes: int = 0
    turns: int = 0
    ran: int = 0

    def take(self, what: object) -> None:
        """The next thing that happened."""
        match what:
            case int():
                self.steps.append(self._turn(what))
            case str():
                self._ran(what)
            case TickRecord():
                self._tick(what)
            case Outcome(value=TurnOutcome(is_side=True)) if self.steps:
                self._mark("turn", _UNSEEN)
                self.steps = [each.replace(" without tools", "") if _UNSEEN in each else each for each in self.steps]
            case ToolCalled(call):
                self._called(call)
            case ToolReturned(is_error=True):
                self._failed(what)
            case ApprovalRequested(interrupt):
                self.steps.append(f"asks {_whom(interrupt)} to approve {_what(interrupt)}")
            case QuestionAsked(interrupt):
                self.steps.append(f"asks {_whom(interrupt)} “{clipped(interrupt.message, QUOTED)}”")
            case Answered(interrupt):
                self._mark("asks", f": {interrupt.status}")

    def _turn(self, number: int) -> str:
        self.turns = number
        if number > len(self.asked):
            return "turn"
        asked = self.asked[number - 1]
        parts = ["turn"]
        parts += [f"({clipped(asked.model, QUOTED)})"] if asked.model else []
        parts += ["without tools"] if asked.tool_choice == "none" and asked.tools else []
        parts += [] if asked.prompt.strip() else ["without a system prompt"]
        if (
            number > 1
            and asked.tools
            and (more := [each for each in asked.tools if each not in self.asked[number - 2].tools])
        ):
            parts.append(f"with {listed(more, _MOST_NOTES)} too")
        begin = min((at for each in self.own_words if (at := asked.note.find(each)) >= 0), default=None)
        if begin is not None:
            parts.append(f"{TOLD}{clipped(asked.note[begin:].lstrip('.,;: '), QUOTED)}”")
        return " ".join(parts)

    def _called(self, call: ToolCall) -> None:
        self.names[call.id] = call.name
        self.may_write |= call.name in self.writing
        self.own |= {call.name} if call.id.startswith(OWN_CALL) else set()

    def _ran(self, name: str) -> None:
        writes = name in self.writing
        self.writes += writes
        arguments = self.runs[self.ran][1] if self.ran < len(self.runs) else {}
        self.ran += 1
        wrong = _misfit(name, arguments)
        is_edited = any(str(value).startswith(EDITED) for value in arguments.values())
        given = ", ".join(f"{key}: {value}" for key, value in arguments.items()) if name in self.own else ""
        shown = f" ({clipped(given, QUOTED)})" if given else ""
        edited = " as edited" if is_edited else ""
        self.steps.append(f"{'writes with' if writes else 'runs'} {name}{shown}{edited}{wrong}")

    def _tick(self, record: TickRecord) -> None:
        if record.at_s - self.now_s >= 1:
            self.steps.append(f"{record.at_s - self.now_s:g} s pass")
        self.now_s = record.at_s
        for key, value in record.deliveries:
            if key == "cancel_requested":
                self.steps.append("CANCEL")
            elif key != "answers":
                self.steps.append(f"{key} = {clipped(str(value), QUOTED)}")
        for error in record.errors:
            if error.path not in self.failed:
                self.failed.add(error.path)
                self.steps.append(f"ERROR in {error.path.rpartition('/')[2]}: {clipped(error.error, QUOTED)}")

    def _failed(self, result: ToolReturned) -> None:
        name = self.names.get(result.tool_call_id, "a tool")
        text = result.tool_result
        if text.startswith(NOT_RUN):
            self.steps.append(f"does not run {name}")
        elif not text.startswith((FAILED, "Cancelled")):
            self.steps.append(f"{name} cannot run: {clipped(text, QUOTED)}")

    def _mark(self, beginning: str, mark: str) -> None:
        """Add to the last step of a kind."""
        for at in range(len(self.steps) - 1, -1, -1):
            if self.steps[at].startswith(beginning) and mark not in self.steps[at]:
                self.steps[at] += mark
                return


def _what(interrupt: Interrupt) -> str:
    return str(interrupt.tool_name) if interrupt.tool_call_id else f"“{clipped(interrupt.message, QUOTED)}”"


def _whom(interrupt: Interrupt) -> str:
    """Who is asked, and how long they have."""
    if interrupt.expires_at is None:
        return f"{_ASKED[interrupt.answerers]}, without an end,"
    left_s = (datetime.fromisoformat(interrupt.expires_at) - datetime.fromisoformat(BEGINNING)).total_seconds()
    size, unit = next((size, unit) for size, unit in _UNITS if left_s >= size or size == 1)
    return f"{_ASKED[interrupt.answerers]}, for {counted(round(left_s / size), unit)},"


def _misfit(name: str, arguments: Mapping[str, Any]) -> str:
    """What is wrong with the arguments of a call; the scripted tools take any."""
    tool = shipped_tools().get(name)
    if tool is None:
        return ""
    missing = [each for each in tool.input_schema.get("required") or () if each not in arguments]
    unknown = [each for each in arguments if each not in tool.input_schema["properties"]]
    parts = [f"without its argument {each!r}" for each in missing] + [f"with an unknown {each!r}" for each in unknown]
    return f" WRONGLY ({', '.join(parts)})" if parts else ""


def in_short(steps: Sequence[str]) -> list[str]:
    """The steps, with repetitions counted; if there are many, the notes for the model follow them."""
    found = compressed(steps)
    if len(found) <= _MOST_STEPS and sum(map(len, found)) <= _LONGEST:
        return found
    notes: dict[str, int] = {}
    bare = []
    for step in steps:
        begin, told, note = step.partition(f" {TOLD}")
        bare.append(begin)
        if told:
            notes[note] = notes.get(note, 0) + 1
    found = compressed(bare)
    if len(found) > _MOST_STEPS:
        found[_MOST_STEPS - 3 : -3] = ["…"]
    said = [f"{TOLD}{note}" + (f" {times} times" if times > 1 else "") for note, times in notes.items()]
    if said:
        found[-1] += f" (meanwhile {', '.join(said[:_MOST_NOTES])}{', …' if len(said) > _MOST_NOTES else ''})"
    return found


def compressed(steps: Sequence[str]) -> list[str]:
    """The steps with what repeats counted."""
    found: list[str] = []
    at = 0
    while at < len(steps):
        period, times = max(
            ((length, _times(steps, at, length)) for length in range(1, _LONGEST_CYCLE + 1)),
            key=lambda each: (each[0] * each[1] if each[1] > 1 else 1, -each[0]),
        )
        if times < 2:
            found.append(steps[at])
            at += 1
            continue
        inner = " → ".join(steps[at : at + period])
        found.append((f"({inner})" if period > 1 else inner) + (" twice" if times == 2 else f" {times} times"))
        at += period * times
    return found


def _times(steps: Sequence[str], at: int, length: int) -> int:
    """How often the next steps come in a row."""
    times = 1
    while steps[at : at + length] == steps[at + times * length : at + (times + 1) * length]:
        times += 1
    return times if at + length <= len(steps) else 0
