"""Where another worker has gone on with a run, and what the run has asked people, in its history."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from oracle.agent.nodes import REGISTRY
from oracle.core.chunks import Answered, ApprovalRequested, Chunk, Interrupt, QuestionAsked
from oracle.core.encoding import from_json, to_json
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.foreign import history_from_json
from oracle.replay.histories.headlines import headline
from oracle.replay.histories.model import UnderWayFacts
from oracle.replay.histories.naming import seam_words
from oracle.replay.histories.reading import read_history
from oracle.runs.record.events import ChunkSent, LogEvent, Resumed, UnderWay, encode
from oracle.runs.storage.archive import Archive, open_archive
from oracle.runs.storage.records import LogEntry
from oracle.runs.storage.store import Store
from tests.acceptance.harness import answers, says
from tests.oracle.replay.histories.logs import Log, log_of
from tests.oracle.replay.test_replays import recorded
from tests.oracle.runs.test_continuing import restarted, until_killed

ASKED = Interrupt(
    "run.1",
    "tool_call",
    "May I write this note?",
    may=("approve", "refuse", "edit"),
    response_schema={},
    on_expiry="refuse",
    tool_call_id="call",
    tool_name="vault_write",
    arguments={"path": "plan.md"},
)
QUESTION = replace(ASKED, id="run.2", reason="input_required", tool_name=None, arguments=None)
APPROVED = replace(ASKED, status="edited", answered_by="olga", answered_at="2026-11-26T04:00:00Z")
PAUSE_S = 3_600.0


def resumed(clock_s: float, **fields: object) -> Resumed:
    return Resumed(2, PAUSE_S, 30.0, clock_s, (UnderWay("tool", "vault_write", "unknown"),), "1", **fields)  # type: ignore[arg-type]


def with_events(log: Log, after_tick: int, *events: LogEvent, later_s: float = 0.0) -> Log:
    """The log with further events behind a tick; all that follow came so much later."""
    at = 1 + next(
        n for n, each in enumerate(log.events) if each.kind == "tick" and from_json(each.data)["tick"] == after_tick
    )
    when = log.events[at - 1].at + later_s
    added = [LogEntry(log.record.id, 0, event.kind, encode(event), when) for event in events]
    rest = [replace(each, at=each.at + later_s) for each in log.events[at:]]
    return replace(log, events=[*log.events[:at], *added, *rest])


async def log_with(store: Store, archive: Archive, *chunks: Chunk) -> Log:
    log = await log_of(archive, await recorded(store, "the project's tools"))
    return with_events(log, 2, *map(ChunkSent, chunks))


def clock_after(log: Log, tick: int) -> float:
    """The run's clock at a tick."""
    found: Sequence[float] = [
        from_json(each.data)["at_s"]
        for each in log.events
        if each.kind == "tick" and from_json(each.data)["tick"] == tick
    ]
    return found[0]


async def test_a_history_has_the_seam_and_its_times_are_those_of_the_run_s_clock(store: Store, archive: Archive):
    log = await log_of(archive, await recorded(store, "the project's tools"))
    before = log.explained()
    cut = with_events(log, 2, resumed(clock_after(log, 2)), later_s=PAUSE_S)
    history = cut.explained()
    (seam,) = history.seams
    assert (seam.tick, seam.attempt, seam.pause_s, seam.counted_s) == (3, 2, PAUSE_S, 30.0)
    assert seam.under_way == (UnderWayFacts("tool", "vault_write", "unknown"),)
    assert abs(seam.at_s - history.ticks[1].at_s) < 1e-3
    assert [tick.why for tick in history.ticks] == [tick.why for tick in before.ticks]
    assert history.problem == ""
    spoken = [text.at_s for text in history.texts]
    assert all(at_s < PAUSE_S / 2 for at_s in spoken), "the pause is not in the times of what was said after it"
    said = seam_words(history, seam)
    assert said == "another worker went on after 3,600.0 s, attempt 2; vault_write may have been carried out"
    assert seam_words(history, replace(seam, is_woken=True)) == "woken after 3,600.0 s"


async def test_what_was_asked_is_shown_as_it_was_answered(store: Store, archive: Archive):
    done = Answered(APPROVED, arguments={"path": "b.md"}, comment="Elsewhere.")
    history = (await log_with(store, archive, ApprovalRequested(ASKED), done)).explained()
    (asked,), (made,) = history.interrupts, history.decisions
    assert (asked.tick, asked.interrupt) == (3, APPROVED)
    assert (made.tick, made.arguments, made.comment) == (3, {"path": "b.md"}, "Elsewhere.")
    assert history_to_json(history_from_json(history_to_json(history))) == history_to_json(history)


async def test_what_nobody_has_answered_is_open_until_the_run_has_ended(store: Store, archive: Archive):
    log = await log_with(store, archive, QuestionAsked(QUESTION))
    underway = log.explained(is_over=False)
    assert [each.interrupt.status for each in underway.interrupts] == ["pending"]
    assert underway.decisions == []
    ended = log.explained()
    assert [each.interrupt.status for each in ended.interrupts] == ["withdrawn"]
    assert [each.interrupt.id for each in ended.decisions] == ["run.2"]


async def test_a_damaged_seam_is_noted(store: Store, archive: Archive):
    log = await log_of(archive, await recorded(store, "the project's tools"))
    cut = with_events(log, 2, resumed(clock_after(log, 2)))
    events = [
        replace(each, data=to_json(from_json(each.data) | {"pause_s": "long"})) if each.kind == "resumed" else each
        for each in cut.events
    ]
    history = cut.explained(events)
    assert history.seams == []
    assert "(resumed) is damaged" in history.problem


async def test_the_headline_of_an_answer_says_who_decided_what(store: Store, archive: Archive):
    history = (await log_of(archive, await recorded(store, "the project's tools"))).explained()
    answers = {
        "1": {"decision": "approve", "by": "olga", "at": ""},
        "2": {"decision": "expire"},
        "3": "damaged",
        "4": {"decision": "refuse", "by": "\x1b[31m"},
    }
    tick = replace(history.ticks[1], cause="delivery", deliveries=(("answers", answers),), decision=None)
    said = headline(history, tick)
    assert said.startswith("olga approved, nobody answered in time, nobody answered in time and ")
    assert said.isprintable()


async def test_a_run_whose_worker_was_killed_is_read_as_one_run_with_a_seam(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    record = await until_killed(url, [says("Half of the", hang=True)])
    async with restarted(url, [answers(" answer.")]) as it:
        ended = (await it.told(record)).record
    async with open_archive(url) as archive:
        history = await read_history(archive, ended, registry=REGISTRY)
    (seam,) = history.seams
    assert history.problem == ""
    assert [(each.what, each.how) for each in seam.under_way] == [("turn", "continued")]
    lost, rest = history.turns
    assert (lost.interrupted, lost.ended_tick, rest.interrupted) == (True, seam.tick, False)
    assert lost.began_s < seam.at_s
    assert lost.answer == "Half of the"
    assert [notice.type for notice in history.notices] == ["recovered"]
    assert all(tick.why for tick in history.ticks if tick.decision is not None)
