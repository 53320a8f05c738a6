"""What came of a situation, in words: what the tree does, what the user sees, how it ends.

Equal texts mean equal outcomes: words of the model are named and not quoted, and what repeats is counted.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, Final

from bt_runtime import NodeDefinition, Outcome, Status, TickRecord, TreeDefinition
from bt_runtime.language.kind import CALLS_HOST
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import clipped, counted, listed
from oracle.agent.nodes.roles import STOPS
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.tool_calls import NOT_RUN, OWN_CALL
from oracle.core.chunks import (
    Answered,
    ApprovalRequested,
    Chunk,
    Closing,
    Content,
    Interrupt,
    QuestionAsked,
    SystemNotice,
    ToolCall,
    ToolCalled,
    ToolReturned,
)
from oracle.features.explaining.acting import EDITED, FINAL, ON_THE_WAY, Performance
from oracle.features.explaining.situations import FAILED
from oracle.features.scenarios.played import Asked, Played
from oracle.features.scenarios.playing import BEGINNING
from oracle.features.scenarios.stage import shipped_tools

_TOLD: Final = "told “"
_ASKED: Final = {"user": "the user", "operator": "an operator", "not_asker": "a person other than the user"}
_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
_UNSEEN: Final = " unseen by the user"
_MOST_STEPS: Final = 8
_MOST_NOTES: Final = 3
_MOST_TOOLS: Final = 12
_LONGEST: Final = 240
_LONGEST_CYCLE: Final = 8
_QUOTED: Final = 70
_OWN_WORDS: Final = 8
"""So many characters of a note must stand in the tree for the note to count as its author's."""
_OF_LIMITS: Final = frozenset({"limit_reached", "no_progress", "error_limit"})
_EXPECTED: Final = frozenset({"completed", "user_cancelled"})
_SAID: Final = re.compile(rf"(?P<final>{FINAL}(?:\d+\.|depends[^?]*\?))|(?P<way>{ON_THE_WAY}(?:\d+\.|[a-zI][^.]*\.))")


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a situation.

    Args:
        does: what the tree does, step by step.
        steps: how many steps that are.
        sees: what the user sees.
        ends: as what it ends, and how.
        facts: the figures that tell most of it, by name; each is empty or a few words.
        decided_by: the node that gave the reason for the end; `None` if no node did.
        visited: the paths of the nodes that were visited.
    """

    does: str
    steps: int
    sees: str
    ends: str
    facts: Mapping[str, str]
    decided_by: NodeDefinition | None
    visited: frozenset[str]

    @property
    def outcome(self) -> tuple[str, str, str]:
        """Equal where the same happens."""
        return self.does, self.sees, self.ends


@dataclass(slots=True)
class _Steps:
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
                self.steps.append(f"asks {_whom(interrupt)} “{clipped(interrupt.message, _QUOTED)}”")
            case Answered(interrupt):
                self._mark("asks", f": {interrupt.status}")

    def _turn(self, number: int) -> str:
        self.turns = number
        if number > len(self.asked):
            return "turn"
        asked = self.asked[number - 1]
        parts = ["turn"]
        parts += [f"({clipped(asked.model, _QUOTED)})"] if asked.model else []
        parts += ["without tools"] if asked.tool_choice == "none" and asked.tools else []
        parts += [] if asked.prompt.strip() else ["without a system prompt"]
        begin = min((at for each in self.own_words if (at := asked.note.find(each)) >= 0), default=None)
        if begin is not None:
            parts.append(f"{_TOLD}{clipped(asked.note[begin:].lstrip('.,;: '), _QUOTED)}”")
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
        shown = f" ({clipped(given, _QUOTED)})" if given else ""
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
                self.steps.append(f"{key} = {clipped(str(value), _QUOTED)}")
        for error in record.errors:
            if error.path not in self.failed:
                self.failed.add(error.path)
                self.steps.append(f"ERROR in {error.path.rpartition('/')[2]}: {clipped(error.error, _QUOTED)}")

    def _failed(self, result: ToolReturned) -> None:
        name = self.names.get(result.tool_call_id, "a tool")
        text = result.tool_result
        if text.startswith(NOT_RUN):
            self.steps.append(f"does not run {name}")
        elif not text.startswith((FAILED, "Cancelled")):
            self.steps.append(f"{name} cannot run: {clipped(text, _QUOTED)}")

    def _mark(self, beginning: str, mark: str) -> None:
        """Add to the last step of a kind."""
        for at in range(len(self.steps) - 1, -1, -1):
            if self.steps[at].startswith(beginning) and mark not in self.steps[at]:
                self.steps[at] += mark
                return


def told_of(performance: Performance, tree: TreeDefinition, own_words: Sequence[str]) -> Told:
    """What came of a situation.

    Args:
        performance: what happened.
        tree: the tree that was played.
        own_words: what the author says to the model, as `own_words_of` finds it.
    """
    played = performance.played
    asked, runs = (played.asked, played.tool_runs) if played else ((), ())
    writing = performance.writing
    own = {str(getattr(node.settings, "call", "")) for node in tree.nodes() if node.has(CALLS_HOST)}
    steps = _Steps(own_words, asked, runs, writing, may_write=not own.isdisjoint(writing))
    for what in performance.seen:
        steps.take(what)
    does = _in_short(steps.steps)
    written = ("written" if steps.writes == 1 else f"written {steps.writes} times") if steps.writes else "not written"
    if steps.may_write and not steps.writes:
        does.append("nothing is written")
    records = [each for each in performance.seen if isinstance(each, TickRecord)]
    nodes = tree.nodes()
    chunks: list[Any] = [each for each in performance.seen if not isinstance(each, int | str | Outcome | TickRecord)]
    visited = frozenset(nodes[index].path for record in records for index in record.visited)
    decided_by = _decider(records, nodes)
    sees, ends = _sees(chunks, performance.situation.said), _ends(played, by_tree=decided_by is not None)
    return Told(
        does=" → ".join(does) or "nothing",
        steps=len(steps.steps),
        sees=sees,
        ends=ends,
        facts={
            "written": written,
            "turns": counted(steps.turns, "turn"),
            "answer": next((each for each in ("the answer", "text on the way", "no answer") if each in sees), ""),
            "tools": listed(asked[0].tools, _MOST_TOOLS) if asked and asked[0].tools else "no tool",
            "end": ends,
        },
        decided_by=decided_by,
        visited=visited,
    )


def own_words_of(tree: TreeDefinition) -> tuple[str, ...]:
    """The pieces of text of a tree that the model may read, the longest first."""
    found: set[str] = set()
    for node in tree.nodes():
        for text in _texts(node.settings.model_dump()):
            pieces = re.split(r"\{[^{}]*\}|'", text)
            found |= {piece.strip() for piece in pieces if len(piece.strip()) >= _OWN_WORDS}
    return tuple(sorted(found, key=len, reverse=True))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _what(interrupt: Interrupt) -> str:
    return str(interrupt.tool_name) if interrupt.tool_call_id else f"“{clipped(interrupt.message, _QUOTED)}”"


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


def _in_short(steps: Sequence[str]) -> list[str]:
    """The steps, with repetitions counted; if there are many, the notes for the model follow them."""
    found = compressed(steps)
    if len(found) <= _MOST_STEPS and sum(map(len, found)) <= _LONGEST:
        return found
    notes: dict[str, int] = {}
    bare = []
    for step in steps:
        begin, told, note = step.partition(f" {_TOLD}")
        bare.append(begin)
        if told:
            notes[note] = notes.get(note, 0) + 1
    found = compressed(bare)
    if len(found) > _MOST_STEPS:
        found[_MOST_STEPS - 3 : -3] = ["…"]
    said = [f"{_TOLD}{note}" + (f" {times} times" if times > 1 else "") for note, times in notes.items()]
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


def _sees(chunks: Iterable[Chunk], said: str) -> str:
    parts: list[str] = []
    text = ""
    for chunk in chunks:
        match chunk:
            case Closing():
                pass  # `ends` says so
            case Content(piece):
                text += piece
            case SystemNotice(kind, message) if kind not in _OF_LIMITS:
                parts += [*_said(text, said), _notice(kind, message)]
                text = ""
    found = compressed([*parts, *_said(text, said)])
    has_answer = any("answer" in each or "“" in each or "on the way" in each for each in found)
    return ", ".join([*found, *([] if has_answer else ["no answer"])])


def _notice(kind: str, message: str) -> str:
    return "a warning of a limit" if kind == "limit_warning" else f"the notice “{clipped(message, _QUOTED)}”"


def _said(text: str, said: str) -> Iterator[str]:
    """What a part of the answer is made of: words of the model, and those of the tree."""
    if said:
        text = text.replace(said, f"{FINAL}1.")
    at = 0
    kinds: list[str] = []
    for found in _SAID.finditer(text):
        kinds += _of_tree(text[at : found.start()])
        kinds.append("the answer" if found["final"] else "text on the way")
        at = found.end()
    kinds += _of_tree(text[at:])
    last = None
    for kind in kinds:
        if kind != last or kind == "the answer":
            yield kind
        last = kind


def _of_tree(text: str) -> list[str]:
    return [f"“{clipped(text.strip(), _QUOTED)}”"] if text.strip() else []


def _ends(played: Played | None, *, by_tree: bool) -> str:
    """As what it ends, whether the user reads why, and whether the tree stopped it itself."""
    if played is None or played.done is None:
        return "DOES NOT END"
    answer, reason = played.answer, played.done.termination_reason
    if reason == "error" and answer.failed is not None:
        return f"error ({answer.failed.error_type}: {clipped(answer.failed.error, 2 * _QUOTED)})"
    ends = str(reason)
    ends += "" if by_tree or reason == "completed" else ", by the floor and not by the tree"
    return ends if answer.stopped is not None or reason in _EXPECTED else f"{ends}, without saying why"


def _decider(records: Sequence[TickRecord], nodes: Sequence[NodeDefinition]) -> NodeDefinition | None:
    """The node that gave the reason for the end."""
    for record in records:
        if not any(key == "termination_reason" and value for key, value in record.writes):
            continue
        statuses = dict(record.changes)
        for index in reversed(record.visited):
            node = nodes[index]
            if node.has(STOPS) or (not node.children and statuses.get(index) is Status.FAILURE):
                return node
    return None
