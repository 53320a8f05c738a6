"""What came of a scenario, as data that expectations are compared with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bt_runtime import Outcome, Status, TickRecord, TreeDefinition
from bt_runtime.text.data import dataclass
from oracle.agent.journal import Fact
from oracle.core.chunks import (
    Answer,
    Answered,
    ApprovalRequested,
    Chunk,
    Content,
    Done,
    Failed,
    QuestionAsked,
    SourceFound,
    SystemNotice,
    Thinking,
    ToolCalled,
    ToolReturned,
)
from oracle.llm.protocol import ModelRequest
from signals import SignalRecord


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to the model.

    Args:
        tools: the names of the offered tools, in order.
        note: what the control newly says to the model; several notes are joined by a line break.
        sends: the other new texts: question, tool results, joined by line breaks.
        prompt: the system prompt.
        model: that was asked for; empty: the query's.
    """

    tools: tuple[str, ...]
    note: str
    sends: str
    prompt: str
    wrap_up: bool
    tool_choice: str
    max_tokens: int
    model: str

    def to_json(self) -> Mapping[str, Any]:
        """The fields that a scenario can state."""
        return asdict(self) | {"tools": list(self.tools)}


@dataclass(frozen=True)
class Played:
    """A scenario that was played.

    Args:
        facts: chunks, outcomes and ticks, in order.
        tree: the tree that was in control.
        requests: all requests to the model, in order.
        tool_runs: name and arguments of each tool that ran, in order.
        signals: the audit.
        blackboard: the values of all keys at the end.
        saved: the answer that the conversation keeps.
        turns_scripted: how many turns the script has.
        decisions_left: how many of the scripted decisions of people nobody was asked for.
        elapsed_s: how long it took, in seconds of the scenario's own time.
    """

    facts: Sequence[Fact]
    tree: TreeDefinition
    requests: Sequence[ModelRequest]
    tool_runs: Sequence[tuple[str, Mapping[str, Any]]]
    signals: Sequence[SignalRecord]
    blackboard: Mapping[str, Any]
    saved: str
    turns_scripted: int
    turns_played: int
    decisions_left: int
    elapsed_s: float

    @cached_property
    def chunks(self) -> Sequence[Chunk]:
        """Everything that was sent, in order."""
        return tuple(fact for fact in self.facts if not isinstance(fact, Outcome | TickRecord))

    @cached_property
    def records(self) -> Sequence[TickRecord]:
        """What was recorded of the ticks."""
        return tuple(fact for fact in self.facts if isinstance(fact, TickRecord))

    @cached_property
    def answer(self) -> Answer:
        """What the chunks add up to."""
        answer = Answer()
        for chunk in self.chunks:
            answer.add(chunk)
        return answer

    @property
    def done(self) -> Done | None:
        """The last chunk."""
        return self.answer.done

    @cached_property
    def moments(self) -> tuple[tuple[str, Any], ...]:
        """The chunks as scenarios state them; pieces of text that follow each other are joined."""
        return tuple(_joined(map(_stated, self.chunks)))

    @cached_property
    def asked(self) -> tuple[Asked, ...]:
        """The requests to the model."""
        before: list[tuple[str, str]] = []
        found = []
        for request in self.requests:
            blocks = list(_texts(request))
            new = _after_common(before, blocks)
            found.append(
                Asked(
                    tools=tuple(tool.name for tool in request.tools),
                    note="\n".join(text for role, text in new if role == "system"),
                    sends="\n".join(text for role, text in new if role != "system").strip(),
                    prompt=request.system,
                    wrap_up=request.wrap_up,
                    tool_choice=request.tool_choice,
                    max_tokens=request.max_tokens,
                    model=request.model or "",
                )
            )
            before = blocks
        return tuple(found)

    @cached_property
    def visits(self) -> Mapping[str, int]:
        """How often each node began, by path: a tick of a node that was RUNNING is no visit of its own."""
        return count_visits(self.records, self.tree.paths)

    @cached_property
    def visited_trees(self) -> tuple[str, ...]:
        """The trees with a node that was visited, sorted: the one in control, and its parts that were reached."""
        files = (Path(node.place.file) for node in self.tree.nodes() if self.visits.get(node.path))
        return tuple(sorted({file.stem for file in files}))

    @cached_property
    def outcomes(self) -> Mapping[str, str]:
        """How each node ended that was visited, the last time: SUCCESS, FAILURE, RUNNING, or HALTED."""
        found: dict[str, str] = {}
        for path, kinds in self.all_outcomes.items():
            if kinds:
                found[path] = kinds[-1]
        return found

    @cached_property
    def all_outcomes(self) -> Mapping[str, tuple[str, ...]]:
        """Every result of each node, in order, by path; the same result in a row is given once."""
        paths = self.tree.paths
        found: dict[str, list[str]] = {path: [] for path in paths}
        statuses: dict[int, Status] = {}
        for record in self.records:
            before = dict(statuses)
            statuses.update(record.changes)
            for index, status in record.changes:
                if status is Status.INVALID and before.get(index) is Status.RUNNING:
                    found[paths[index]].append("HALTED")
            for index in record.visited:
                status = statuses.get(index, Status.INVALID)
                results = found[paths[index]]
                if status is not Status.INVALID and results[-1:] != [status.name]:
                    results.append(status.name)
        return {path: tuple(results) for path, results in found.items()}


def count_visits(records: Sequence[TickRecord], paths: Sequence[str]) -> Mapping[str, int]:
    """How often each node began, by path."""
    counts = dict.fromkeys(paths, 0)
    statuses: dict[int, Status] = {}
    for record in records:
        under_way = {index for index, status in statuses.items() if status is Status.RUNNING}
        for index in record.visited:
            if index in under_way:
                under_way.discard(index)
            else:
                counts[paths[index]] += 1
        statuses.update(record.changes)
    return counts


def _stated(chunk: Chunk) -> tuple[str, Any]:  # noqa: C901, PLR0911  one case for each kind
    """A chunk as a kind and what is stated of it."""
    match chunk:
        case Thinking(text):
            return "thinking", text
        case Content(text):
            return "content", text
        case SourceFound(source):
            return "source", source.path
        case ToolCalled(call):
            return "tool_call", {call.name: dict(call.arguments)}
        case ToolReturned():
            return ("tool_error" if chunk.is_error else "tool_result"), chunk.tool_result
        case SystemNotice():
            return "system", {chunk.system_type: chunk.system_message}
        case ApprovalRequested(interrupt) | QuestionAsked(interrupt):
            return chunk.type, interrupt.message
        case Answered(interrupt):
            return "answered", interrupt.status
        case Failed():
            return "error", {chunk.error_type: chunk.error}
        case Done():
            return "done", chunk.termination_reason


def _joined(moments: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    kind, text = "", ""
    for name, value in moments:
        if name == kind:
            text += value
            continue
        if kind:
            yield kind, text
        kind, text = (name, value) if name in ("content", "thinking") else ("", "")
        if not kind:
            yield name, value
    if kind:
        yield kind, text


def _texts(request: ModelRequest) -> Iterator[tuple[str, str]]:
    """The role and the text of each block of a request's messages."""
    for message in request.messages:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if message["role"] == "assistant":
                yield message["role"], ""
            elif block.get("type") == "tool_result":
                inner = block.get("content", "")
                text = inner if isinstance(inner, str) else "\n".join(each.get("text", "") for each in inner)
                yield message["role"], text
            else:
                yield message["role"], str(block.get("text", ""))


def _after_common(before: Sequence[tuple[str, str]], now: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    same = 0
    for one, other in zip_longest(before, now):
        if one != other:
            break
        same += 1
    return list(now[same:])
