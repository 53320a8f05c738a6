"""What a log says of its run, wherever it was cut, and how the run is ended from there."""

from collections.abc import Iterable

import pytest

from bt_runtime import Outcome, TickRecord
from bt_runtime.text import estimate_tokens
from oracle.agent.conversations.protocol import ConversationStep
from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.agent.tool_calls import CANCELLED
from oracle.core import chunks
from oracle.core.chunks import (
    Chunk,
    Closing,
    Content,
    Failed,
    Source,
    SourceFound,
    SystemNotice,
    Thinking,
    ToolCalled,
    ToolReturned,
    write_chunk,
)
from oracle.core.encoding import to_json
from oracle.decision import ToolAction
from oracle.llm.protocol import ModelFault, ToolUse
from oracle.runs.record.events import ChunkSent, ended
from oracle.runs.record.outcome_json import encode_outcome
from oracle.runs.record.record import Record
from oracle.runs.record.ticks import encode_tick
from oracle.runs.recovery import INTERRUPTED, ending_of
from oracle.runs.storage.records import LogEntry
from oracle.runs.storage.store import Store
from oracle.testing import ScriptedSearch, ScriptedTurn
from tests.acceptance.harness import made_tool, numbered
from tests.oracle.runs.running import managed

SENTENCE = "Stopped: The service was interrupted before the answer was complete. Please ask again."
LIMIT = "Stopped: iteration limit reached (1/1)."


def called(call_id: str) -> ToolCalled:
    return ToolCalled(chunks.ToolCall(call_id, "probe", {}))


def never(_tool: str) -> bool:
    """No tool writes."""
    return False


def record_of(logged: Iterable[Chunk | Outcome | dict[str, object]]) -> Record:
    """The record of chunks, outcomes, and the writes of ticks."""
    record, chunk_n = Record(), 0
    for seq, each in enumerate(logged, start=1):
        if isinstance(each, Outcome):
            kind = "turn_end" if isinstance(each.value, TurnOutcome) else "tool_end"
            record.read([LogEntry("run", seq, kind, encode_outcome(each), 0.0, step_key=each.key)])
        elif isinstance(each, dict):
            tick = TickRecord(seq, 0.0, "again", (), (), (), (), (), tuple(each.items()), ())
            record.read([LogEntry("run", seq, "tick", encode_tick(tick), 0.0)])
        else:
            if isinstance(each, Closing):
                record.read([LogEntry("run", seq, "closing", to_json({"reason": each.reason}), 0.0)])
            chunk_n += 1
            record.read([LogEntry("run", seq, "chunk", write_chunk(each), 0.0, chunk_n=chunk_n)])
    return record


def turn(**values: object) -> Outcome:
    return Outcome("llm_turn@1", "done", TurnOutcome(**values))  # type: ignore[arg-type]


def texts(chunks: Iterable[Chunk]) -> list[str]:
    return [chunk.content for chunk in chunks if isinstance(chunk, Content)]


def test_a_story_counts_turns_and_tokens_as_the_query_did():
    record = record_of(
        [
            Thinking("Hm."),
            Content("One."),
            turn(tokens=10, model="first"),
            turn(tokens=5, model="second", estimated=True),
            turn(tokens=3, interrupted=True),
            turn(tokens=2, fault=ModelFault("provider_failed", "no")),
        ]
    )
    assert (record.turns, record.tokens, record.tokens_estimated, record.model) == (2, 20, True, "second")
    assert (record.seq, record.chunk_n) == (6, 2)


def test_a_turn_that_never_ended_counts_by_its_characters():
    record = record_of([Content("a" * 9), turn(tokens=10), Content("b" * 8), Thinking("c" * 5)])
    assert record.uncounted_tokens == 4


def test_a_story_has_sources_notices_errors_and_open_calls():
    source, notice = Source("a.py", "code", line=3), SystemNotice("fallback", "Hm.", "info", "2026-01-01T00:00:00Z")
    call = ToolUse("c1", "probe", {})
    failed = CallResult(
        call, "no", is_error=True, counts=True, is_empty=False, group=None, action=_action(), began=True
    )
    record = record_of(
        [
            called("c1"),
            called("c2"),
            SourceFound(source),
            notice,
            ToolReturned("c1", "no", is_error=True, duration_ms=1),
            Outcome("run_tools@1", "done", ToolsOutcome((failed,))),
        ]
    )
    assert (record.answer.sources, [call.id for call in record.answer.open_calls]) == ([source], ["c2"])
    assert [type(step.chunk) for step in record.steps] == [ToolCalled, ToolCalled, SystemNotice, ToolReturned]
    assert record.steps[2] == ConversationStep("1970-01-01T00:00:00.000Z", notice)
    assert record.had_tool_errors


def _action() -> ToolAction:
    return ToolAction.from_call("probe", {}, is_error=True, result_digest="0")


def test_the_reason_is_the_last_one_that_a_tick_has_written():
    assert record_of([{"turn": 1, "hint": "x"}]).reason is None
    assert record_of([{"turn": 1}, {"termination_reason": "timeout"}, {"turn": 2}]).reason == "timeout"
    assert record_of([{"termination_reason": "timeout"}, {"termination_reason": ""}]).reason == "timeout"


def test_events_that_cannot_be_read_are_skipped():
    record = record_of([Content("One.")])
    for seq, data in enumerate([b"{", b"[]", b'{"type": "content"}', b'{"type": "system", "x": 1}'], start=2):
        record.read([LogEntry("run", seq, "chunk", data, 0.0, chunk_n=seq)])
    record.read([LogEntry("run", 6, "turn_end", b"{}", 0.0)])
    assert (record.answer.text, record.seq, record.chunk_n) == ("One.", 6, 5)


def test_an_interrupted_answer_gets_an_error_and_a_sentence():
    ending = ending_of(record_of([Content("Half of the")]), saved_as=None, writes=never)
    assert ending.chunks == (INTERRUPTED, Content("\n\n"), Closing(SENTENCE, "error"))
    assert (ending.reason, ending.answer, ending.failed) == ("error", f"Half of the\n\n{SENTENCE}", INTERRUPTED)


def test_without_any_text_the_sentence_stands_alone():
    assert ending_of(Record(), saved_as=None, writes=never).answer == SENTENCE


def test_open_calls_are_answered_first():
    ending = ending_of(record_of([Content("Looking."), called("c1")]), saved_as=None, writes=never)
    assert isinstance(ending.chunks[0], ToolReturned)
    assert (ending.chunks[0].tool_call_id, ending.chunks[0].is_error) == ("c1", True)


def test_an_answer_that_was_saved_keeps_its_reason():
    record = record_of([Content("All of it."), {"termination_reason": "completed"}])
    ending = ending_of(record, saved_as="completed", writes=never)
    assert (ending.chunks, ending.reason, ending.answer, ending.failed) == ((), "completed", "All of it.", None)


def test_an_answer_that_gives_the_reason_for_its_end_keeps_it():
    written = [Content("Part."), Content("\n\n"), Closing(LIMIT, "max_iterations")]
    ending = ending_of(record_of(written), saved_as=None, writes=never)
    assert (ending.chunks, ending.reason, ending.answer) == ((), "max_iterations", f"Part.\n\n{LIMIT}")


def test_an_error_after_the_closing_sentence_gets_a_sentence_of_its_own():
    lost = Failed("The answer could not be saved.", "internal")
    ending = ending_of(record_of([Closing(LIMIT, "max_iterations"), lost]), saved_as=None, writes=never)
    assert texts(ending.chunks) == ["\n\n", "Stopped: The answer could not be saved."]
    assert (ending.reason, ending.failed) == ("error", lost)


@pytest.mark.parametrize(
    "written",
    [
        pytest.param([Content("Stopped: said the model.")], id="the model's words, and no reason"),
        pytest.param(
            [
                Content("The engine."),
                Content("\n\n"),
                Content("Stopped: at noon."),
                {"termination_reason": "completed"},
            ],
            id="the model's words, and a reason",
        ),
        pytest.param([Closing(LIMIT, "max_iterations"), Content("\n\n")], id="text after the sentence"),
        pytest.param([Content("Part."), {"termination_reason": "max_iterations"}], id="a reason, and no sentence"),
    ],
)
def test_an_answer_that_does_not_give_the_reason_for_its_end_was_interrupted(written):
    ending = ending_of(record_of(written), saved_as=None, writes=never)
    assert ending.reason == "error"
    assert texts(ending.chunks)[-1] == SENTENCE


def test_an_error_that_was_sent_is_the_one_that_ends_the_answer():
    ending = ending_of(
        record_of([Content("Half"), Failed("The provider is down. Ask again.", "provider_failed")]),
        saved_as=None,
        writes=never,
    )
    assert ending.chunks == (Content("\n\n"), Closing("Stopped: The provider is down. Ask again.", "error"))
    assert ending.failed == Failed("The provider is down. Ask again.", "provider_failed")


@pytest.mark.parametrize(
    "before",
    [
        pytest.param([], id="nothing"),
        pytest.param([Content("Half of the")], id="half an answer"),
        pytest.param([Content("One."), Content("\n\n")], id="between two paragraphs"),
        pytest.param(
            [Content("One."), called("c1"), called("c2")],
            id="open calls",
        ),
        pytest.param([Content("One."), Failed("It broke.", "provider_failed")], id="an error"),
        pytest.param([Content("One."), {"termination_reason": "timeout"}], id="a reason"),
    ],
)
def test_an_ending_that_was_itself_interrupted_is_not_written_twice(before):
    whole = ending_of(record_of(before), saved_as=None, writes=never)
    for cut in range(len(whole.chunks) + 1):
        written = [*before, *whole.chunks[:cut]]
        again = ending_of(record_of(written), saved_as=None, writes=never)
        assert (*whole.chunks[:cut], *again.chunks) == whole.chunks
        assert (again.reason, again.answer, again.failed) == (whole.reason, whole.answer, whole.failed)


# Calls that nobody waits for any more


def waiting(logged: list[Chunk | Outcome | dict[str, object]]) -> list[list[str]]:
    """The ids of the calls that are pending, after each beginning of a log."""
    beginnings = (record_of(logged[:cut]) for cut in range(len(logged) + 1))
    return [[each.call.id for each in record.pending.calls] for record in beginnings]


def returned(call_id: str, text: str = "found", *, is_error: bool = False) -> ToolReturned:
    return ToolReturned(call_id, text, is_error=is_error, duration_ms=1)


def test_a_call_that_the_provider_runs_is_pending_until_its_turn_has_ended():
    own = turn(server_tools=("web_search",), calls=(ToolUse("c1", "probe", {}),))
    logged = [called("s1"), returned("s1"), called("c1"), own, returned("c1")]
    assert waiting(logged) == [[], ["s1"], ["s1"], ["s1", "c1"], ["c1"], ["c1"]]


def test_the_calls_of_a_turn_that_was_cut_off_are_not_pending():
    assert waiting([called("c1"), turn(interrupted=True)]) == [[], ["c1"], []]


def test_a_turn_beside_the_answer_ends_no_call():
    assert waiting([called("c1"), turn(is_side=True)]) == [[], ["c1"], ["c1"]]


def test_a_call_of_the_tree_is_pending_until_its_own_outcome():
    first, second = Outcome("root/0@1", "done", "one"), Outcome("root/1@1", "done", "two")
    logged = [called("tree_1"), called("tree_2"), returned("tree_2", "two"), second, turn(), returned("tree_1", "one")]
    both, one = ["tree_1", "tree_2"], ["tree_1"]
    assert waiting([*logged, first]) == [[], one, both, both, one, one, one, []]


@pytest.mark.parametrize("error", ["HostError: It is " + "l" * 40, "HostError: It is lll…", "HostError"])
def test_a_call_of_the_tree_that_fails_is_pending_until_its_outcome(error):
    text = "" if error == "HostError" else "It is " + "l" * 40
    logged = [called("tree_1"), returned("tree_1", text, is_error=True), Outcome("root/0@1", "failed", None, error)]
    assert waiting(logged) == [[], ["tree_1"], ["tree_1"], []]


def test_a_call_of_a_node_that_was_halted_is_not_pending():
    assert waiting([called("tree_1"), returned("tree_1", CANCELLED, is_error=True)]) == [[], ["tree_1"], []]


async def record_with_log(store: Store, *turns: ScriptedTurn, tree: str = "", question: str) -> list[LogEntry]:
    async with managed(store, turns, tools=[made_tool(numbered)]) as it:
        if tree:
            it.harness.write_tree("mine", tree)
        told = await it.ask(question, **({"tree": "mine"} if tree else {}))
        return await store.log.events(told.record.id)


async def test_a_recorded_search_of_the_provider_is_pending_as_long_as_its_turn(store: Store):
    search = ScriptedTurn("Found.", searches=(ScriptedSearch("news", (("https://e.org", "E"),)),))
    check(await record_with_log(store, search, question="What is the latest news about Python on the web?"), "turn_end")


async def test_a_recorded_call_of_the_tree_is_pending_until_the_outcome_of_its_node(store: Store):
    tree = "tree: mine\nroot: {sequence: [action: {call: probe}, say: Checked., stop: stuck]}\n"
    check(await record_with_log(store, tree=tree, question="Why?"), "tool_end")


def check(entries: list[LogEntry], ends: str) -> None:
    """The one call is pending from its chunk up to the first event of that kind."""
    begun = next(at for at, each in enumerate(entries) if b'"tool_call"' in each.data and each.kind == "chunk")
    ended = next(at for at, each in enumerate(entries) if each.kind == ends)
    assert begun < ended
    for cut in range(len(entries) + 1):
        assert len(Record.fold(entries[:cut]).pending.calls) == (begun < cut <= ended), cut


# A run under way


def test_a_record_of_a_run_under_way_is_the_one_that_its_log_has():
    logged = [
        Content("One."),
        turn(tokens=4),
        Content("Half of the "),
        Thinking("Hm."),
        Failed("It broke.", "provider_failed"),
        Content("\n\n"),
        Closing(SENTENCE, "error"),
        Content("More."),
    ]
    live = Record()
    for cut, each in enumerate(logged, start=1):
        if type(each) is Content:
            live.add_text(each)
        else:
            live.add(ended(each) if isinstance(each, Outcome) else ChunkSent(each), at_s=0.0)
        folded = record_of(logged[:cut])
        assert (live.answer, live.uncounted_tokens) == (folded.answer, folded.uncounted_tokens)
    assert live.uncounted_tokens == estimate_tokens(len("Half of the Hm."))
    keeps = Record(keeps_events=True)
    keeps.add_text(Content("One."))
    assert keeps.events == [(1, ChunkSent(Content("One.")))]


def test_a_summary_changes_nothing():
    record = record_of([called("c1"), SystemNotice("fallback", "Hm.", "info", "2026-01-01T00:00:00Z"), turn()])
    rest = [returned("c1", is_error=True), Closing(SENTENCE, "error")]
    before = record.answer.text, record.summary()
    assert record.summary(rest) == record.summary(rest)
    assert (record.summary(rest).tool_errors, record.summary().tool_errors) == (1, 0)
    assert (record.answer.text, record.summary()) == before
