"""The history of a run: all that happened in it, and why, as plain data.

It is made from the run's log, and from a repetition of the run on its own version of the tree. It is the same data in
the terminal, over HTTP and in an export, and may be incomplete: of a run that is under way, of one whose texts were
deleted, and of one whose version of the tree cannot be read any more.

Times with `_s` are seconds of the run's clock, from the start of the query; times with `_at` are seconds since the
epoch. Nodes are named by their index in `nodes`.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from bt_runtime import CauseKind
from bt_runtime.text.data import dataclass
from oracle.core.chunks import Interrupt
from oracle.llm.protocol import CacheMiss
from oracle.runs.storage.records import Feedback, Kept, RunRecord, RunStatus

FORMAT: Literal["oracle-run"] = "oracle-run"
VERSION = 1

StatusName = Literal["SUCCESS", "FAILURE", "RUNNING", "INVALID"]
DELETED: Final[Mapping[str, str]] = {
    "figures": "its texts were deleted, so it cannot be replayed or explained; results, times and figures are left",
    "gone": "its texts and ticks were deleted; only its summary is left",
}
"""What the store has of a run, in words, where that is not the whole."""
CACHE_MISSES: Final[Mapping[CacheMiss, str]] = {
    "model_changed": "another model was asked",
    "system_changed": "the prompt changed",
    "tools_changed": "the tools changed",
    "messages_changed": "earlier messages changed",
    "previous_message_not_found": "the provider no longer knows the request before",
    "unavailable": "another setting changed, or the provider cannot say",
}
"""Why the provider's cache was missed, in words."""
CallerName = Literal["model", "provider", "tree"]
"""Who asked for a tool call: the model; the model, and its provider runs it; the tree itself."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The row of a run; fields of the end are `None` before it."""

    id: str
    user_id: str
    context_id: str
    question: str
    status: RunStatus
    created_at: float
    finished_at: float | None
    tree: str
    tree_version: str | None
    model: str | None
    turns: int
    tokens_used: int
    tokens_estimated: bool
    termination_reason: str | None
    error: str | None
    limits: Mapping[str, int | float]
    kept: Kept = "whole"
    feedback: Feedback | None = None
    shadow_of: str | None = None


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """A node of the version of the tree that ran, and its place in the files.

    Of a version that cannot be read any more only the paths are known: kind and file are empty, line and column are 0.

    Args:
        parent: its index; `None` for the root.
        slot: of the parent; empty where that has only one.
        label: name, kind and settings on one line, as in pictures.
        summary: what the kind does, in one line.
        title: what people call it: its name, else the tree that it includes, else its kind.
    """

    index: int
    path: str
    kind: str
    category: str
    name: str | None
    parent: int | None
    slot: str
    label: str
    file: str
    line: int
    column: int
    summary: str = ""
    title: str = ""


RowKind = Literal["node", "setting", "comment", "blank"]


@dataclass(frozen=True, slots=True)
class RowFacts:
    """A line of the source of a tree, where it is shown: the files of subtrees stand where they are included.

    Args:
        line: its number in the file, from 1; its text is there.
        nodes: that begin on the line, the outermost first.
        owner: the innermost node around the line; `None` outside of all. Of a line with a node, the one around that.
        level: its depth among the nodes, from 1.
        indent: the spaces before its text, in the file.
        offset: the spaces before its text, where it is shown; those of a subtree are added to those of its place.
        includes: how many subtrees it lies in.
        last: the index of the last row of what begins here: this row, or one that is folded with it.
        summary: of what is folded behind a line outside of all nodes: `14 lines: description, blackboard`.
    """

    file: str
    line: int
    kind: RowKind
    nodes: tuple[int, ...] = ()
    owner: int | None = None
    level: int = 1
    indent: int = 0
    offset: int = 0
    includes: int = 0
    last: int = 0
    summary: str = ""


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """The version of the tree that ran.

    Args:
        file: the file that the root stands in.
        files: the texts, by file as in the places of the nodes.
        rows: the lines of the files in the order in which they are shown; of a tree that cannot be read any more none.
    """

    name: str
    version: str
    file: str
    files: Mapping[str, str]
    nodes: tuple[NodeFacts, ...]
    rows: tuple[RowFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """A blackboard key, and its value before the first tick."""

    name: str
    type: str
    description: str
    read_only: bool
    value: Any = None


@dataclass(frozen=True, slots=True)
class FigureFacts:
    """A number that a node looked at, and the limit that it is held against."""

    name: str
    value: int | float
    limit: int | float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class OperandFacts:
    """A name that an expression has read.

    Args:
        at: its places in the text of the expression, in characters from 0.
        text: the value as it is shown, shortened.
    """

    name: str
    value: Any
    at: tuple[int, ...] = ()
    text: str = ""


Tone = Literal["yes", "no", "error", "none"]
"""How a value is shown; `none`: it was not asked for, or is neither true nor false."""


@dataclass(frozen=True, slots=True)
class ClauseFacts:
    """A part of an expression, from the character `start` to that before `end`; `value` if it was asked."""

    start: int
    end: int
    asked: bool
    value: Any = None
    tone: Tone = "none"


@dataclass(frozen=True, slots=True)
class EvaluationFacts:
    """An evaluation of an expression.

    Args:
        setting: where it stands in the node's settings: `when`, `values.hint`.
        line: of the file, where the text of the expression begins.
        column: of its first character there, from 1; `None` if the file has it in another form (folded, escaped).
        error: why it failed; empty if it did not.
        verdict: what came of it: `yes`, `no`, `error`, `stops`, `goes on`, or the value; empty if the text says it all.
    """

    text: str
    setting: str
    line: int
    column: int | None
    value: Any
    error: str
    clauses: tuple[ClauseFacts, ...]
    operands: tuple[OperandFacts, ...]
    verdict: str = ""
    tone: Tone = "none"


@dataclass(frozen=True, slots=True)
class VisitFacts:
    """One step of one node in a tick.

    Args:
        status: what the node returned, or `INVALID` if it was halted.
        parent: the node that ticked it.
        decider: the child that decided its status; `None`: the node itself.
        text: what it says, as a phrase: `5 of 10 turns`.
        sentence: what it says, as a sentence; empty if it has none.
        writes: the keys that it wrote, with their values.
    """

    node: int
    status: StatusName
    parent: int | None
    decider: int | None
    text: str = ""
    sentence: str = ""
    figures: tuple[FigureFacts, ...] = ()
    evaluations: tuple[EvaluationFacts, ...] = ()
    writes: tuple[tuple[str, Any], ...] = ()
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PieceFacts:
    """A piece of a sentence: plain words, the name of a node, or code of the tree."""

    kind: Literal["words", "name", "code"]
    text: str


@dataclass(frozen=True, slots=True)
class StepFacts:
    """A step on the way to a decision: a sentence, and the node whose mark and place stand next to it."""

    node: int
    pieces: tuple[PieceFacts, ...]
    decides: bool = False


@dataclass(frozen=True, slots=True)
class TickFacts:
    """A tick.

    Args:
        at_s: from the start of the query.
        took_ms: the duration of the tick itself; 0 if it was not recorded.
        turn: the number of the model's turn that it belongs to: the one whose outcome it got, else the one that is
            under way or begins, else the last one; 0 before the first.
        visited: the nodes that were ticked, in order.
        changes: the nodes whose status differs from the end of the tick before.
        writes: to the blackboard, in order: key and value.
        errors: exceptions: node path and `Type: message`.
        decision: the node that decided what happens next; `None` if that is not known.
        headline: what happened and what was decided, in one or two sentences.
        visits: how it came to that; empty if the run cannot be repeated.
        given_back: halted nodes that got what their work had brought until then, before this tick; each with its
            writes.
        marks: a character for each node, by index: `+` success, `-` failure, `>` running, `=` still running and not
            asked, `/` it was running and was stopped, `!` it raised, `o` a guard that holds, `.` not asked; nodes
            behind the last character were not asked.
        why: the steps from the root to the decision; empty if it is not known.
    """

    tick: int
    at_s: float
    took_ms: float
    turn: int
    cause: CauseKind
    causes: tuple[str, ...]
    deliveries: tuple[tuple[str, Any], ...]
    visited: tuple[int, ...]
    changes: tuple[tuple[int, StatusName], ...]
    writes: tuple[tuple[str, Any], ...]
    errors: tuple[tuple[str, str], ...]
    decision: int | None = None
    headline: str = ""
    marks: str = ""
    why: tuple[StepFacts, ...] = ()
    visits: tuple[VisitFacts, ...] = ()
    given_back: tuple[VisitFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """What the model was asked in a turn; `None` is not known.

    Args:
        segments: of the system prompt, by name.
        prompt: its text.
        tools: the names of the tools that were offered.
        notes: of the control, in this request.
        messages: those that are new in this request, as the provider gets them; they are made by repeating the run,
            which does not know the conversation before the question.
        total_messages: how many it had, those of the conversation among them.
        recorded: it was recorded when it was sent; else all of it is made by repeating the run.
    """

    segments: tuple[str, ...] = ()
    prompt: str | None = None
    prompt_sha: str | None = None
    tools: tuple[str, ...] = ()
    tool_choice: str = "auto"
    notes: tuple[str, ...] = ()
    messages: tuple[Any, ...] = ()
    max_tokens: int | None = None
    wrap_up: bool = False
    recorded: bool = False
    total_messages: int | None = None
    thinking_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class SignalFacts:
    """A signal of a turn.

    Args:
        type: as declared; empty if that is unreadable.
        raw: the block as the model wrote it; `None` if it was deleted.
        problem: why it is malformed; empty if it is not.
        action: what the control did about it, in its own terms; empty if that is not known.
    """

    type: str
    confidence: float | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    malformed: bool = False
    raw: str | None = None
    problem: str = ""
    action: str = ""


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """A turn of the model.

    Args:
        n: 1, 2, 3, … in the order in which they began, those that failed among them.
        node: that asked for it; `None` if it is not known, or no tree drove the run.
        began_tick: the tick that asked for it.
        ended_tick: the tick that got its outcome; `None` while it is under way, and where there are no ticks.
        ended_s: `None` while it is under way, or if its process ended before it.
        first_text_ms: from the request to the first visible text; `None` if there was none or it is not known.
        visible: it is part of the answer; not the turn of a subagent.
        interrupted: it was stopped before its end.
        calls: the ids of the tool calls that it asked for.
        server_tools: names of the tools that the provider has run itself.
        signal: the one that counts, else the first malformed one; `None` also for a response that is not whole.
        other_signals: all others of the response, in order.
        answer: the raw response, signal included; `None` if it was deleted, or there is none yet.
        input_tokens: the whole input, cached or not.
        cache_creation_tokens: of the input, what the provider has put into its cache.
        cache_read_tokens: of the input, what it has read from its cache.
        cache_miss: why its cache did not have the whole request before, where it says so; else empty.
    """

    n: int
    node: int | None
    began_tick: int
    ended_tick: int | None
    began_s: float
    ended_s: float | None
    first_text_ms: int | None = None
    input_tokens: int = 0
    output_tokens: int | None = None
    tokens: int = 0
    estimated: bool = False
    model: str = ""
    visible: bool = True
    cut_off: bool = False
    interrupted: bool = False
    error: str = ""
    calls: tuple[str, ...] = ()
    signal: SignalFacts | None = None
    request: RequestFacts | None = None
    answer: str | None = None
    stop_reason: str | None = None
    server_tools: tuple[str, ...] = ()
    other_signals: tuple[SignalFacts, ...] = ()
    cache_creation_tokens: int = 0
    cache_read_tokens: int = 0
    cache_miss: CacheMiss | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class CallFacts:
    """A tool call.

    Args:
        turn: the turn that asked for it, or that ended last before the tree did.
        began_tick: the tick that ran it; the one after the request, as long as no tick has.
        began_s: the time of that tick.
        ended_s: `None` while it is under way, or if it was never run.
        arguments: as text or JSON; `None` if they were deleted.
        result: its text; `None` while there is none, or if it was deleted.
        ran: the tool was started; `None` while that is not known.
        labels: what the tool reads and where it writes; `None`: nobody has said.
    """

    id: str
    name: str
    turn: int
    began_tick: int
    ended_tick: int | None
    began_s: float
    ended_s: float | None
    is_error: bool = False
    arguments: Any = None
    result: str | None = None
    caller: CallerName = "model"
    node: int | None = None
    ran: bool | None = None
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class NoticeFacts:
    """A system notification; the tick is the one that sent it, or the next."""

    tick: int
    turn: int
    at_s: float
    type: str
    severity: str
    text: str


@dataclass(frozen=True, slots=True)
class TextFacts:
    """A piece of what the user could read: `content`, `thinking`, `source`, `error`; pieces of a tick are joined."""

    type: str
    tick: int
    turn: int
    at_s: float
    text: str


DebugKind = Literal["pausing", "paused", "stepped", "set", "forced", "resumed"]


@dataclass(frozen=True, slots=True)
class DebugFacts:
    """What an operator did with the debugger.

    Args:
        tick: the one that came next.
        by: the operator; `None` where none has caused it.
        path: of the node whose result was forced, or that a breakpoint was hit at.
        key: of the blackboard, that was set.
        value: to which; its size, if the texts were deleted.
        result: the forced result of a node, `success` or `failure`.
        why: the kind of breakpoint that paused the run; why it was resumed: `command`, `lease`, `cancel`, `stopping`.
        paused_s: how long it was paused, when it was resumed.
    """

    tick: int
    at_s: float
    what: DebugKind
    by: str | None = None
    path: str | None = None
    key: str | None = None
    value: Any = None
    result: str | None = None
    why: str | None = None
    paused_s: float | None = None


@dataclass(frozen=True, slots=True)
class UnderWayFacts:
    """Something that was under way when the worker of a run died, and what became of it.

    Args:
        what: `turn` of the model, `tool` call, or other work of a `node`.
        name: of the tool, or the path of the node.
        how: `continued`, `repeated`, `kept`, `unknown` or `not_run`.
    """

    what: str
    name: str
    how: str


@dataclass(frozen=True, slots=True)
class SeamFacts:
    """Where another worker has gone on with the run.

    Args:
        tick: the one that came next.
        at_s: where the run's clock has gone on, from the start of the query.
        attempt: 1, 2, 3, … since the last turn or tool call that has ended.
        pause_s: how long nobody had the run, by the wall clock.
        counted_s: how much of that counts against the deadline.
        under_way: the requests without an outcome at that time.
        is_woken: it was parked, and nothing was lost.
        version: the version of the service that goes on.
    """

    tick: int
    at_s: float
    attempt: int
    pause_s: float
    counted_s: float
    under_way: tuple[UnderWayFacts, ...] = ()
    is_woken: bool = False
    version: str = ""


@dataclass(frozen=True, slots=True)
class InterruptFacts:
    """What the run has asked a person.

    Args:
        tick: the one that asked, or the next.
        interrupt: as it stood when this was read; `DecisionFacts` say how it was decided since. No interrupt of a
            run that has ended is pending.
    """

    tick: int
    turn: int
    at_s: float
    interrupt: Interrupt


@dataclass(frozen=True, slots=True)
class DecisionFacts:
    """What has become of an interrupt: a person has decided, nobody has in time, or the run has ended before.

    Args:
        tick: the one that got it, or the next.
        interrupt: the interrupt with its status after the decision.
        answer: the answer to a question, as JSON data.
        arguments: those that a person has put in place of the call's.
    """

    tick: int
    at_s: float
    interrupt: Interrupt
    answer: Any = None
    arguments: Any = None
    comment: str | None = None


EndedBy = Literal[
    "guard", "stop", "node", "answer", "provider", "error", "settled", "floor", "rule", "control", "service", "unknown"
]
"""What ended a run: a `guard`, a `stop`, or another `node` that wrote the reason; the tree without a reason, after the
`answer`, a failure of the `provider` or the `error` of a node; the facts, against what was written (`settled`); from
outside the `floor`, a `rule`, the run loop (`control`) or the `service`."""


@dataclass(frozen=True, slots=True)
class BreachFacts:
    """A rule of the tree that was broken, or would have been, and what was done: `refuse`, `stop` or `notify`.

    Args:
        call_id: of the tool call that broke it; empty for other events.
        after: for a rule over labels, the tool whose result came before; else empty.
    """

    tick: int
    turn: int
    rule: str
    text: str
    enforcement: str
    event: str
    call_id: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class EndFacts:
    """Why the run ended.

    Args:
        tick: in which that was decided; `None` if no tick decided it.
        node: that decided it; `None` if no node did.
        sentence: what decided it, and why, for people.
        by: which part of the system decided the end.
        cause: for operators: the failure behind it in the provider's or the service's own words, and what to check;
            empty if there is none, and for other users.
        headline: of its tick, in place of the tick's own: what happened and why the run ended.
        why: of its tick, in place of the tick's own: the steps to its node; empty if those of the tick lead there.
    """

    reason: str
    tick: int | None
    node: int | None
    sentence: str
    by: EndedBy = "unknown"
    cause: str = ""
    headline: str = ""
    why: tuple[StepFacts, ...] = ()


@dataclass(slots=True)
class History:
    """Everything that is known of a run.

    Args:
        keys: of the blackboard, with the values before the first tick.
        end: `None` while the run is under way.
        problem: why something is missing, or the ticks cannot be explained, or not all of them; empty if nothing is.
        unexplained_from: the first tick that has no reasons because the run could not be repeated further; `None`: it
            could be, as far as it was asked for.
    """

    run: RunFacts
    tree: TreeFacts | None = None
    keys: list[KeyFacts] = field(default_factory=list)
    ticks: list[TickFacts] = field(default_factory=list)
    turns: list[TurnFacts] = field(default_factory=list)
    calls: list[CallFacts] = field(default_factory=list)
    notices: list[NoticeFacts] = field(default_factory=list)
    texts: list[TextFacts] = field(default_factory=list)
    breaches: list[BreachFacts] = field(default_factory=list)
    debug: list[DebugFacts] = field(default_factory=list)
    seams: list[SeamFacts] = field(default_factory=list)
    interrupts: list[InterruptFacts] = field(default_factory=list)
    decisions: list[DecisionFacts] = field(default_factory=list)
    end: EndFacts | None = None
    problem: str = ""
    unexplained_from: int | None = None
    format: Literal["oracle-run"] = FORMAT
    version: int = VERSION


PARTS: Final = ("turns", "calls", "notices", "texts", "breaches", "debug", "seams", "interrupts", "decisions")
"""The lists of a `History` whose items belong to ticks."""


def run_facts(record: RunRecord) -> RunFacts:
    """The facts of a run's row."""
    error = record.error or {}
    return RunFacts(
        id=record.id,
        user_id=record.user_id,
        context_id=record.context_id,
        question=str(record.input.get("question", "")),
        status=record.status,
        created_at=record.created_at,
        finished_at=record.finished_at,
        tree=record.tree,
        tree_version=record.tree_sha,
        model=record.model_used,
        turns=record.turns or 0,
        tokens_used=record.tokens_used or 0,
        tokens_estimated=bool(record.tokens_estimated),
        termination_reason=record.termination_reason,
        error=error.get("error"),
        limits=dict(record.limits),
        kept=record.kept,
        feedback=record.feedback,
        shadow_of=record.shadow_of,
    )
