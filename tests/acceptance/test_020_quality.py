"""020 SC-007 to SC-009 and what is asked of the control in general: cheap, on record, the same under retry and reload.

How much a turn costs beside a bare loop is measured by `make bench`; the bounds here are generous on purpose.
"""

import asyncio
import json
import time
from itertools import count

import pytest

from oracle.testing import ScriptedTurn
from signals import SignalStream
from tests.acceptance.harness import NEED_TURN, SUFFICIENT, answers, calls, harness, says, signal_xml
from tests.support.pace import slowness
from tests.support.provider import Disturbed

TURNS = 15
A_SHORT_ANSWER_MS = 1_000
"""What a model takes for the shortest turn, about; 10 % of it is what 020 SC-007 leaves for the control."""


def long_query() -> list[ScriptedTurn]:
    """14 turns with a tool call each, then an answer."""
    looks = [says("Words. " * 40, calls("search_code", query="RetryPolicy", limit=n)) for n in range(1, TURNS)]
    return [*looks, answers("Words. " * 40)]


async def test_020_sc_007_a_turn_under_the_tree_takes_a_fraction_of_ten_percent_of_the_shortest_turn() -> None:
    async with harness(long_query(), wire=False) as it:
        began = time.process_time()
        answered = await it.ask(limits={"max_iterations": 20})
        per_turn_ms = (time.process_time() - began) / TURNS * 1_000
    assert answered.done.turns == TURNS
    assert per_turn_ms < A_SHORT_ANSWER_MS * 0.10 * slowness()


@pytest.mark.parametrize(
    "text",
    [
        "A word and another one. " * 4_000 + SUFFICIENT,
        "<signal " * 12_000,
        "`" * 90_000 + SUFFICIENT,
        ("<" * 50 + "\n") * 2_000,
        "```\n" + '<signal type="stuck">' * 4_000,
    ],
    ids=["prose", "beginnings of signals", "backticks", "angles", "open fence"],
)
@pytest.mark.parametrize("piece_chars", [8, 25, 400])
def test_020_sc_008_reading_signals_adds_less_than_50_ms_to_a_response(text: str, piece_chars: int) -> None:
    """A response of 8 192 tokens, the most that a turn may say, has about 33 000 characters; prose and worse."""
    response = text[:33_000]
    pieces = [response[at : at + piece_chars] for at in range(0, len(response), piece_chars)]
    took_ms = []
    for _ in range(20):  # the fastest is the reading itself; what else the machine does only adds to it
        stream = SignalStream()
        began = time.process_time()
        for piece in pieces:
            stream.feed(piece)
        stream.close()
        took_ms.append((time.process_time() - began) * 1_000)
    assert min(took_ms) < 50 * slowness()


async def test_020_sc_009_the_audit_is_json_that_can_be_kept() -> None:
    async with harness([says("Half." + NEED_TURN), says("Hm.<signal type='x'>\0</signal>"), answers()]) as it:
        answered = await it.ask()
    records = json.loads(answered.agent.signals.audit.to_json())
    assert [record["turn"] for record in records][:2] == [1, 2]
    assert records[0]["raw_xml"].startswith('<signal type="need_turn">')
    assert all(record["action"] and record["at"] for record in records)


async def test_020_fr_009_signals_are_logged_without_the_words_of_the_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with harness([says("A secret sentence." + signal_xml("partial_answer", missing="hush"))]) as it:
        await it.ask()
    lines = [line for line in capsys.readouterr().out.splitlines() if "signal.recorded" in line]
    assert len(lines) == 1
    assert "partial_answer" in lines[0]
    assert "completed" in lines[0]
    assert "secret" not in lines[0]
    assert "hush" not in lines[0]


async def test_020_what_the_tree_did_and_why_it_stopped_is_in_the_tick_records() -> None:
    turns = [says("", calls("search_code", query="zeppelin")), says("Hm." + NEED_TURN), answers()]
    async with harness(turns) as it:
        answered = await it.ask()
    reasons = [value for record in answered.recording for key, value in record.writes if key == "termination_reason"]
    assert reasons[-1] == "completed"
    assert not any(record.errors for record in answered.recording)


async def test_020_an_edited_tree_serves_the_next_question_and_a_wrong_one_changes_nothing() -> None:
    endless = (says(f"Part {n}." + signal_xml("need_turn", reason=str(n))) for n in count())
    async with harness(endless) as it:
        before = await it.ask()
        it.edit_tree("oracle", "default: 30", "default: 2")
        edited = await it.ask()
        it.edit_tree("oracle", "- compose_prompt", "- compose_promt")
        wrong = await it.ask()
    assert [each.done.turns for each in (before, edited, wrong)] == [15, 2, 2]


async def test_020_a_query_under_way_ends_on_the_tree_that_it_began_with() -> None:
    gate = asyncio.Event()
    first = Disturbed(says("Half." + NEED_TURN), "wait", after=4, gate=gate)
    async with harness([first, says("More." + NEED_TURN), answers("All.")]) as it:
        underway = await it.start()
        await underway.until_content("Half")
        it.edit_tree("oracle", "default: 30", "default: 1")
        gate.set()
        answered = await underway.result()
    assert answered.done.turns == 3
    assert answered.reason == "completed"
