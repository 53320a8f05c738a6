"""Turns a recorded run into a scenario that plays the same: what was said, found and waited for, and what came of it.

Tokens are taken over as the budget counted them, durations to the millisecond. What the request said about the project
and the vault (folders, earlier messages) is not in the record; the control does not depend on it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from bt_runtime import Outcome, Registry, TreeDefinition
from bt_runtime.text.phrases import truncated
from oracle.agent.nodes.board import ANSWERS
from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.core.chunks import ApprovalRequested, Chunk, Failed, QuestionAsked, SourceFound, SourceType, ToolReturned
from oracle.core.errors import UserError
from oracle.decision import AgentConfig
from oracle.features.scenarios.expectations import find_nodes, short_name
from oracle.features.scenarios.model import (
    GROUPS,
    Earlier,
    Json,
    Label,
    Moment,
    OutsideEvent,
    PersonDecides,
    Scenario,
    SignalLine,
    ToolAnswer,
    ToolScript,
    Turn,
)
from oracle.features.scenarios.played import count_visits
from oracle.features.scenarios.stage import shipped_tools
from oracle.llm.protocol import ModelFault, Usage
from oracle.llm.scripted import ScriptedCall, ScriptedSearch
from oracle.replay.recorded import RecordedRun
from oracle.tools import ToolGroup
from signals import Signal, parse

_LONGEST_NAME: Final = 80
_NEVER_S: Final = 1e6
"""When a person decides for whom the run has not waited, in seconds after it was asked."""
_QUIET_KINDS: Final = frozenset({"condition", "set"})


def scenario_of(run: RecordedRun, *, registry: Registry) -> Scenario:
    """The scenario of a run, with what happened as what must happen.

    Raises:
        UserError: the run was cut off, or its parts ran side by side.
        UnreplayableError: its tree cannot be read any more.
    """
    tree = run.tree(registry)
    _check(run, tree)
    outcomes = [outcome for tick in run.ticks for outcome in tick.outcomes]
    own_tools = {tool.name: tool for tool in run.opened.tools if tool.name not in shipped_tools()}
    scripts = _tool_answers(run, outcomes)
    tools = {name: ToolScript(answers=tuple(answers)) for name, answers in scripts.items() if name not in own_tools}
    for name, tool in own_tools.items():
        answers = tuple(scripts.get(name, ()))
        labels = None if tool.labels is None else cast("tuple[Label, ...]", tuple(sorted(tool.labels)))
        tools[name] = ToolScript(
            answers=answers, group=tool.group, writes=tool.writes, approve=tool.needs_approval, labels=labels
        )
    return Scenario(
        name=_name(run),
        question=str(run.record.input["question"]),
        tree=run.record.tree,
        limits=_limits(run.record.limits),
        history=_history(run),
        available=_groups(run),
        tools=tools,
        model=tuple(_turn(each.value) for each in outcomes if isinstance(each.value, TurnOutcome)),
        events=tuple(_events(run)),
        people=tuple(_decisions(run)),
        encoded=run.opened.encoded,
        expect=_expectations(run, tree, outcomes),
    )


def _check(run: RecordedRun, tree: TreeDefinition) -> None:
    failed = [chunk for _, chunk in run.chunks if isinstance(chunk, Failed)]
    if any(chunk.error_type == "interrupted" for chunk in failed):
        raise UserError("the run was cut off when its process ended; it cannot be played to its end")
    if run.record.status != "finished":
        raise UserError("the run goes on; wait for its end")
    if any(isinstance(chunk, QuestionAsked) and chunk.interrupt.tool_call_id for _, chunk in run.chunks):
        raise UserError("its client has run tools of its own; a scenario has no client")
    for tick in run.ticks:
        if any(key not in tree.keys or not tree.keys[key].deliverable for key, _ in tick.deliveries):
            raise UserError(f"an operator has changed it while it ran (tick {tick.tick}); a scenario has no debugger")


def _name(run: RecordedRun) -> str:
    question = " ".join(str(run.record.input["question"]).split())
    return f"{truncated(question, _LONGEST_NAME)} ({run.record.id[:8]})"


def _limits(recorded: Mapping[str, Any]) -> Mapping[str, int]:
    defaults = AgentConfig().model_dump()
    return {name: value for name, value in recorded.items() if name in defaults and defaults[name] != value}


def _history(run: RecordedRun) -> tuple[Earlier, ...]:
    """An earlier query of the same type; its words are not recorded with the run."""
    previous = run.opened.previous
    if previous is None and not run.opened.previous_errors:
        return ()
    query_type = previous.query_type if previous is not None else None
    return (
        Earlier(
            question="An earlier question.",
            answer="An earlier answer.",
            tool_errors=run.opened.previous_errors,
            query_type=query_type,
        ),
    )


def _groups(run: RecordedRun) -> tuple[ToolGroup, ...]:
    """The groups of which the run had shipped tools."""
    if not run.opened.tools:
        return GROUPS
    there = {tool.group for tool in run.opened.tools if tool.name in shipped_tools()}
    return tuple(group for group in GROUPS if group in there)


# The model


def _turn(outcome: TurnOutcome) -> Turn:
    text, signal = _text(outcome)
    interrupted = outcome.interrupted
    by_stop_reason = outcome.stop_reason in ("refusal", "broken")
    fault = None if outcome.fault is None or by_stop_reason else outcome.fault
    implied = "tool_use" if outcome.calls else "end_turn"
    return Turn(
        text=text,
        thinking="".join(_of_type(outcome, "thinking", "thinking")),
        signal=signal,
        calls=tuple(_call(outcome)),
        searches=tuple(_searches(outcome.content)),
        usage=_usage(outcome),
        stop_reason=None if outcome.stop_reason == implied else outcome.stop_reason,
        fault=fault and ModelFault(fault.error_type, fault.message, narrower=fault.narrower),
        hang=interrupted,
        delay_s=0.0 if interrupted else outcome.duration_ms / 1000,
        encoded=outcome.encoded,
    )


def _text(outcome: TurnOutcome) -> tuple[str, SignalLine | None]:
    """The text, with its signal apart where that reads back the same."""
    raw = "".join(_of_type(outcome, "text", "text"))
    parsed = outcome.parsed
    if not raw and parsed is not None:  # nothing goes back to the provider of a turn that failed
        raw = parsed.text
    if parsed is None or parsed.signal is None or len(parsed.readings) != 1:
        return raw, None
    line = _signal_line(parsed.signal)
    again = parse("".join(Turn(text=parsed.text, signal=line).scripted().text_pieces))
    if again.signal is None or again.text != parsed.text or _fields(again.signal) != _fields(parsed.signal):
        return raw, None
    return parsed.text, line


def _signal_line(signal: Signal) -> SignalLine:
    fields = {name: value for name, value in _fields(signal).items() if name != "confidence" and value is not None}
    return SignalLine(type=signal.type, fields=fields, confidence=signal.confidence)


def _fields(signal: Signal) -> dict[str, Json]:
    return signal.model_dump(exclude={"raw_xml", "timestamp", "type"})


def _of_type(outcome: TurnOutcome, block_type: str, field: str) -> Iterator[str]:
    for block in outcome.content:
        if block.get("type") == block_type:
            yield str(block.get(field, ""))


def _call(outcome: TurnOutcome) -> Iterator[ScriptedCall]:
    for call in outcome.calls:
        # The text that could not be read is not recorded; any other that cannot be read does the same.
        yield ScriptedCall(call.name, dict(call.arguments) if call.malformed is None else "{")


def _searches(content: Sequence[Mapping[str, Any]]) -> Iterator[ScriptedSearch]:
    queries = {block["id"]: block for block in content if block.get("type") == "server_tool_use"}
    for block in content:
        if block.get("type") != "web_search_tool_result":
            continue
        query = str(queries.get(block["tool_use_id"], {}).get("input", {}).get("query", ""))
        found = block.get("content")
        if isinstance(found, list):
            pairs = tuple((str(each.get("url", "")), str(each.get("title", ""))) for each in found)
            yield ScriptedSearch(query, pairs)
        else:
            yield ScriptedSearch(query, (), str((found or {}).get("error_code", "unavailable")))


def _usage(outcome: TurnOutcome) -> Usage:
    """What brings the same tokens into the budget, and the same input into the plan of the next turn."""
    whole = min(outcome.input_tokens, outcome.tokens) if not outcome.caches else outcome.input_tokens
    if not outcome.caches:
        return Usage(input_tokens=whole, output_tokens=outcome.tokens - whole)
    read = max(0, whole - outcome.tokens)
    created = 1 if read == 0 and whole else 0
    return Usage(whole - read - created, created, read, outcome.tokens - (whole - read))


# Tools and events


def _tool_answers(run: RecordedRun, outcomes: Sequence[Outcome]) -> dict[str, list[ToolAnswer]]:
    sources = _sources([chunk for _, chunk in run.chunks])
    durations = {
        chunk.tool_call_id: chunk.duration_ms / 1000 for _, chunk in run.chunks if isinstance(chunk, ToolReturned)
    }
    scripts: dict[str, list[ToolAnswer]] = {}
    for outcome in outcomes:
        if not isinstance(outcome.value, ToolsOutcome):
            continue
        for result in outcome.value.results:
            if _ran(result, is_cancelled=outcome.state == "cancelled"):
                call_id = result.call.id
                answer = _answer(result, durations.get(call_id, 0.0), sources.get(call_id, ()))
                scripts.setdefault(result.call.name, []).append(answer)
    return scripts


def _ran(result: CallResult, *, is_cancelled: bool) -> bool:
    """Whether the tool began to run, and not only its call was answered."""
    if result.call.malformed is not None or result.text.startswith(f"{result.call.name!r} is not offered"):
        return False
    return result.counts or is_cancelled


def _answer(result: CallResult, delay_s: float, sources: tuple[tuple[SourceType, str], ...]) -> ToolAnswer:
    if not result.counts:  # it was cancelled
        return ToolAnswer(hang=True)
    return ToolAnswer(
        result=None if result.is_error else result.text,
        error=result.text if result.is_error else None,
        empty=result.is_empty,
        delay_s=delay_s,
        sources=sources,
    )


def _sources(chunks: Sequence[Chunk]) -> Mapping[str, tuple[tuple[SourceType, str], ...]]:
    """What each tool call has found: its sources follow its result."""
    found: dict[str, tuple[tuple[SourceType, str], ...]] = {}
    call_id = ""
    for chunk in chunks:
        if isinstance(chunk, ToolReturned):
            call_id = chunk.tool_call_id
        elif isinstance(chunk, SourceFound) and call_id:
            found[call_id] = (*found.get(call_id, ()), (chunk.source.source_type, chunk.source.path))
        else:
            call_id = ""
    return found


def _events(run: RecordedRun) -> Iterator[OutsideEvent]:
    stops = any(isinstance(chunk, Failed) and chunk.error_type == "service_stopping" for _, chunk in run.chunks)
    for tick in run.ticks:
        moment = Moment(kind="at_s", value=round(max(0.0, tick.at_s - run.opened.start_s), 3))
        for key, value in tick.deliveries:
            if key == ANSWERS:  # what came of it is in the chunks
                continue
            if (key, value) == ("cancel_requested", True):
                yield OutsideEvent(action="service_stops" if stops else "cancel", moment=moment)
                return
            yield OutsideEvent(action="delivery", moment=moment, key=key, value=value)


def _decisions(run: RecordedRun) -> Iterator[PersonDecides]:
    """What was decided, in the order in which it was asked."""
    times = {tick.tick: tick.at_s for tick in run.ticks}
    given: dict[str, tuple[float, Mapping[str, Any]]] = {}
    for tick in run.ticks:
        answers = (value for key, value in tick.deliveries if key == ANSWERS)
        for interrupt_id, decision in (each for value in answers for each in value.items()):
            given.setdefault(interrupt_id, (tick.at_s, decision))
    for number, chunk in run.chunks:
        if isinstance(chunk, ApprovalRequested | QuestionAsked):
            asked_s = times.get(number, 0.0)
            at_s, decision = given.get(chunk.interrupt.id, (asked_s + _NEVER_S, {}))
            yield PersonDecides.of(decision, after_s=round(max(0.0, at_s - asked_s), 3))


# What must happen


def _expectations(run: RecordedRun, tree: TreeDefinition, outcomes: Sequence[Outcome]) -> Mapping[str, Json]:
    chunks = [chunk.to_wire() for _, chunk in run.chunks]
    turns = [each.value for each in outcomes if isinstance(each.value, TurnOutcome)]
    expect: dict[str, Json] = {
        "reason": run.record.termination_reason,
        "turns": run.record.turns,
        "asked": len(turns),
        "answer": _without_id("".join(each["content"] for each in chunks if each["type"] == "content"), run),
        "notices": [
            {each["system_type"]: _without_id(each["system_message"], run)}
            for each in chunks
            if each["type"] == "system" and each["system_type"] != "paused"
        ],
        "errors": [each["error_type"] for each in chunks if each["type"] == "error"],
        "results": _results(chunks, turns),
        "visited": _visited(run, tree),
    }
    return {name: value for name, value in expect.items() if value is not None}


def _results(chunks: Sequence[Mapping[str, Any]], turns: Sequence[TurnOutcome]) -> list[Json]:
    texts = {each["tool_call_id"]: each["tool_result"] for each in chunks if each["type"] == "tool_result"}
    unread = {call.id for turn in turns for call in turn.calls if call.malformed is not None}
    calls = [each["tool_call"] for each in chunks if each["type"] == "tool_call"]
    return [
        {call["name"]: texts[call["id"]]} if texts[call["id"]] and call["id"] not in unread else call["name"]
        for call in calls
        if call["id"] in texts
    ]


def _without_id(text: str, run: RecordedRun) -> Json:
    """The text; where it names the run, what stands before that."""
    return {"starts": text.partition(" Reference: ")[0]} if run.record.id in text else text


def _visited(run: RecordedRun, tree: TreeDefinition) -> list[Json]:
    """The leaves that did something, with the number of visits."""
    if tree.paths != run.version.nodes:
        return []
    visits = count_visits(run.ticks, tree.paths)
    found: list[Json] = []
    for node in tree.nodes():
        if node.children or node.kind in _QUIET_KINDS or not visits[node.path]:
            continue
        parts = node.path.split("/")
        names = (short_name(node), *("/".join(parts[-length:]) for length in range(2, len(parts) + 1)))
        name = next(each for each in names if find_nodes(each, tree) == (node.path,))
        found.append({name: visits[node.path]})
    return found
