"""The agents read their requests, and each has its habit."""

import asyncio
from dataclasses import replace

import pytest

from benchmarks.habits.advice import heeded, kind_of
from benchmarks.habits.conversations import CONVERSATIONS, OLD
from benchmarks.habits.good_habits import GOOD
from benchmarks.habits.mind import Mind
from benchmarks.habits.players import PLAYERS
from benchmarks.habits.playing import Played, play_all
from benchmarks.habits.tasks import PLAIN, TASKS
from benchmarks.habits.view import view_of
from oracle.agent.notes import TOOL_ERROR, WRAP_UP
from oracle.agent.tool_calls import NO_TURN_LEFT
from oracle.llm.protocol import ModelRequest, ToolDefinition
from oracle.testing import ScriptedCall

TASK = PLAIN[0]
(QUESTION,) = TASK.questions
TREE, _, LEGACY = PLAYERS
NOTES = {
    WRAP_UP: "answer",
    TOOL_ERROR: "change",
    "Approaching iteration limit (7/10). Consider wrapping up your response.": "conclude",
    "Continue.": "none",
    "More tools are offered from now on: vault_read(path): To see a note when a hit does not answer.": "none",
    "Continue. Take another approach. If nothing is left to try, give what you have.": "change",
    "Answer now from what you have. Only if one thing is missing that you can name, look for it.": "conclude",
    "Only if the answer would be wrong without it, one further call is run; then the answer is due.": "conclude",
    "If what you have found is enough, answer now.": "conclude",
    "You have what you need.": "answer",
    "End your final answer with one signal.": "signal",
    "Not run: at most 5 tool calls are run in a turn. Ask for the rest in the next turn.": "none",
}


@pytest.mark.parametrize(("note", "kind"), NOTES.items(), ids=range(len(NOTES)))
def test_notes_of_the_control_are_read_by_their_words(note, kind) -> None:
    assert kind_of(note) == kind


@pytest.mark.parametrize("seed", ["a", "b", "c", "d"])
def test_who_obeys_half_of_the_notes_obeys_no_other_ones_than_who_obeys_all(seed) -> None:
    notes = [(1, TOOL_ERROR), (2, WRAP_UP), (3, TOOL_ERROR)]
    none, half, every = (heeded(notes, last_turn=3, seed=seed, obedience=share) for share in (0.0, 0.5, 1.0))
    assert not none.answer
    assert not none.change
    assert every.answer
    assert every.change
    assert half.answer <= every.answer


def request(*messages, tools=("search_code", "read_file"), **more) -> ModelRequest:
    offered = tuple(ToolDefinition(name, "", {}) for name in tools)
    return ModelRequest(system="", messages=messages, tools=offered, **more)


ASKED = {"role": "user", "content": [{"type": "text", "text": QUESTION.text}]}
CALLED = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "c1", "name": "search_code", "input": {"query": "MOST_ATTEMPTS"}}],
}


def returned(text: str) -> dict:
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": text, "is_error": False}],
    }


def mind_of(asked: ModelRequest, *, obedience: float = 1.0) -> Mind:
    return Mind(view_of(asked, QUESTION), TASK, "seed", obedience)


def test_an_agent_knows_what_a_result_has_shown_and_no_more() -> None:
    assert mind_of(request(ASKED)).known == ()
    shown = request(ASKED, CALLED, returned("3  MOST_ATTEMPTS = 7"))
    assert [fact.key for fact in mind_of(shown).known] == ["attempts"]
    assert mind_of(shown).sensible().tool_calls == ()
    assert "MOST_ATTEMPTS = 7" in str(mind_of(shown).sensible().text)


def test_an_agent_calls_offered_tools_only_and_asks_for_one_that_it_lacks() -> None:
    (call,) = mind_of(request(ASKED)).looks()
    assert call == ScriptedCall("search_code", {"query": "retry attempts carriers"})
    lacking = mind_of(request(ASKED, tools=("vault_search",)))
    assert lacking.looks() == []
    assert "need_capability" in str(lacking.answer().text)


def test_an_agent_reads_a_file_that_a_search_has_named() -> None:
    named = mind_of(request(ASKED, CALLED, returned("src/ferry/retries.py:1 (score 3.20)")))
    assert named.looks() == [ScriptedCall("read_file", {"path": "src/ferry/retries.py"})]


def test_notes_and_refusals_are_read_apart_from_results() -> None:
    note = {"role": "system", "content": [{"type": "text", "text": "First."}]}
    noted = view_of(request(ASKED, CALLED, returned("a hit"), note), QUESTION)
    assert noted.notes == ((1, "First."),)
    assert "First." not in noted.seen
    refused = view_of(request(ASKED, CALLED, returned(NO_TURN_LEFT)), QUESTION)
    assert refused.notes == ((1, NO_TURN_LEFT),)
    assert not refused.made[0].was_run


def test_there_are_more_than_eighty_agents_with_old_habits_and_more_than_twenty_good_ones() -> None:
    good = [each for each in CONVERSATIONS if each.is_good]
    assert len(CONVERSATIONS) - len(good) >= 80
    assert len(good) >= 20
    assert {each.habit for each in CONVERSATIONS} == {*OLD, *GOOD}
    assert len({each.name for each in CONVERSATIONS}) == len(CONVERSATIONS)
    assert {each.task.name for each in CONVERSATIONS} == {task.name for task in TASKS}


@pytest.fixture(scope="module")
def unhindered() -> dict[str, list[Played]]:
    """Two conversations of each habit and all good ones, under the control of before; by habit. Nothing is obeyed."""
    found: dict[str, list[Played]] = {}
    two_each = [each for number, each in enumerate(CONVERSATIONS) if each.is_good or number % 4 < 2]
    for each in asyncio.run(play_all(two_each, [0.0], players=[LEGACY])):
        found.setdefault(each.conversation.habit, []).append(each)
    return found


def test_each_habit_shows_where_nothing_holds_it(unhindered) -> None:
    for habit in OLD.keys() - {"signals_unclearly", "gives_up_stuck"}:  # which show only where signals are obeyed
        scores = [each.score for each in unhindered[habit]]
        assert any(score.unneeded_calls + score.unneeded_turns or not score.is_complete for score in scores), habit


def test_a_good_agent_answers_completely_where_nothing_holds_it(unhindered) -> None:
    good = [each for habit in GOOD for each in unhindered[habit]]
    assert [each.conversation.name for each in good if not each.score.is_complete] == []
    assert {reason for each in good for reason in each.score.reasons} == {"completed"}


def test_an_agent_that_gives_up_has_not_seen_everything_and_says_a_signal_that_is_obeyed() -> None:
    stuck = OLD["gives_up_stuck"](mind_of(request(ASKED, CALLED, returned("no hit"))))
    assert 'type="stuck"' in str(stuck.text)
    unclear = OLD["signals_unclearly"](mind_of(request(ASKED, CALLED, returned("MOST_ATTEMPTS = 7"))))
    assert "<signal" in str(unclear.text)
    assert 'context_sufficient"><sources_found' not in str(unclear.text)


async def test_a_conversation_is_played_alike_twice() -> None:
    conversation = next(each for each in CONVERSATIONS if each.habit == "thorough_in_parallel")
    first, second = [await play_all([conversation], [0.5], players=[TREE]) for _ in range(2)]
    assert first == second


async def test_where_no_note_came_the_figures_hold_for_every_obedience() -> None:
    conversation = next(each for each in CONVERSATIONS if each.habit == "thorough")
    low, high = await play_all([conversation], [0.0, 1.0], players=[LEGACY])
    assert replace(low, obedience=1.0) == high
