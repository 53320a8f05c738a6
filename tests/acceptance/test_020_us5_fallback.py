"""020 US5, FR-019 to FR-022, SC-006: what happens when the model does not say clearly where it stands (decision 20).

No trained classifier is here: the heuristics answer, and everything works (FR-022, SC-006).
"""

from itertools import repeat

import pytest

from oracle.agent.notes import EMPTY_TURN
from oracle.classify import HeuristicIntentClassifier, ResponseIntent
from tests.acceptance.harness import Answered, ControlName, answers, calls, harness, says, signal_xml, text_of

GOING_ON = "The agent gave no clear signal but seems to be working. Going on."
STUCK_NOTICE = "The agent is stuck. Trying another approach."


class Says:
    """An intent classifier that gives one answer, and counts how often it was asked."""

    name = "fixed"

    def __init__(self, signal_type: str) -> None:
        self.signal_type = signal_type
        self.asked: list[str] = []

    def classify(self, text: str) -> ResponseIntent:
        self.asked.append(text)
        return ResponseIntent(self.signal_type, 0.9)


def searching(turns: int) -> list:
    """So many turns in silence, each with a tool call that brings something else."""
    return [says("", calls("read_file", path="src/retry.py", start_line=1 + number)) for number in range(turns)]


def told_in(answered: Answered, request: int) -> str:
    return text_of(answered.bodies[request]["messages"][-1])


# --- US5-1, FR-019: three turns without a signal


async def test_020_us5_1_fr_019_the_third_turn_without_a_signal_consults_the_classifier() -> None:
    reader = Says("context_sufficient")
    async with harness([*searching(2), says("The answer.")], intents=reader) as it:
        answered = await it.ask()
    assert reader.asked == ["The answer."]
    assert answered.reason == "completed"


async def test_020_us5_1_before_the_third_turn_it_is_not_consulted() -> None:
    reader = Says("need_turn")
    async with harness([*searching(1), says("The answer.")], intents=reader) as it:
        answered = await it.ask()
    assert reader.asked == []
    assert answered.reason == "completed"


async def test_020_us5_1_a_signal_starts_the_count_anew() -> None:
    reader = Says("need_turn")
    sufficient = signal_xml("context_sufficient", sources_found=1)
    turns = [*searching(2), says("Hm." + sufficient, calls("list_files")), *searching(1), says("The answer.")]
    async with harness(turns, intents=reader) as it:
        await it.ask()
    assert reader.asked == []


async def test_020_us5_1_its_classification_is_acted_upon() -> None:
    async with harness([*searching(2), says("Let me think."), answers()], intents=Says("need_turn")) as it:
        answered = await it.ask()
    assert answered.done.turns == 4
    assert GOING_ON in answered.messages
    assert "Call the tools that you need now, or answer." in told_in(answered, 3)


async def test_020_us5_1_a_response_that_reads_as_stuck_gets_another_strategy() -> None:
    async with harness([*searching(2), says("Hm."), answers()], intents=Says("stuck")) as it:
        answered = await it.ask()
    assert answered.messages == [STUCK_NOTICE]
    assert answered.reason == "completed"


async def test_020_us5_1_a_response_that_reads_as_stuck_twice_is_acknowledged() -> None:
    async with harness([*searching(2), *repeat(says("Hm."), 5)], intents=Says("stuck")) as it:
        answered = await it.ask()
    assert answered.reason == "stuck"
    assert answered.last_sentence == "Stopped: could not get further - no way forward was found."


async def test_020_turns_with_tool_calls_there_get_one_reminder_and_nothing_else() -> None:
    """A model that calls tools says by that what it does; nobody takes the turn from it (decision 20)."""
    reader = Says("stuck")
    async with harness([*searching(5), answers()], intents=reader) as it:
        answered = await it.ask()
    assert reader.asked == []
    assert answered.notices == []
    reminder = "End your final answer with one signal."
    assert [reminder in told_in(answered, n) for n in range(6)] == [n == 4 for n in range(6)]
    assert answered.reason == "completed"


# --- US5-2, FR-020: confidence below 0.3


@pytest.mark.parametrize(("confidence", "consulted"), [(0.0, True), (0.29, True), (0.3, False), (0.9, False)])
async def test_020_us5_2_fr_020_confidence_below_0_3_consults_the_classifier(
    confidence: float, consulted: bool
) -> None:
    reader = Says("context_sufficient")
    signal = signal_xml("context_sufficient", sources_found=1, confidence=confidence)
    async with harness([says("The answer." + signal)], intents=reader) as it:
        answered = await it.ask()
    assert bool(reader.asked) == consulted
    assert answered.reason == "completed"


async def test_020_us5_2_a_doubtful_signal_that_the_response_supports_counts() -> None:
    doubtful = signal_xml("need_capability", capability="a shell", reason="r", confidence=0.2)
    async with harness([says("Hm." + doubtful)], intents=Says("need_capability")) as it:
        answered = await it.ask()
    assert [notice.system_type for notice in answered.notices] == ["capability_gap"]
    assert "I would need a shell" in answered.answer
    assert [record.action for record in answered.agent.signals.audit] == ["fallback: completed"]


async def test_020_us5_2_a_doubtful_need_turn_that_the_response_supports_is_granted() -> None:
    doubtful = signal_xml("need_turn", reason="r", confidence=0.1)
    async with harness([says("Hm." + doubtful), answers()], intents=Says("need_turn")) as it:
        answered = await it.ask()
    assert answered.done.turns == 2
    assert answered.messages == []


async def test_020_us5_2_a_doubtful_signal_that_the_response_does_not_support_is_replaced() -> None:
    doubtful = signal_xml("need_turn", reason="r", confidence=0.1)
    async with harness([says("The answer." + doubtful)], intents=Says("context_sufficient")) as it:
        answered = await it.ask()
    assert answered.done.turns == 1
    assert answered.reason == "completed"


async def test_020_us5_2_a_loop_of_doubtful_need_turn_signals_is_broken() -> None:
    doubtful = signal_xml("need_turn", reason="the same", confidence=0.1)
    async with harness(repeat(says("Hm." + doubtful)), intents=Says("need_turn")) as it:
        answered = await it.ask()
    assert answered.reason == "stuck"
    assert answered.done.turns == 4


# --- US5-3, FR-021: stuck


async def test_020_us5_3_fr_021_an_explicit_stuck_consults_it_and_gets_an_alternative_strategy() -> None:
    reader = Says("stuck")
    stuck = signal_xml("stuck", attempted="a", blocker="b")
    async with harness([says("No." + stuck), answers()], intents=reader) as it:
        answered = await it.ask()
    assert reader.asked == ["No."]
    assert answered.messages == [STUCK_NOTICE]
    assert "Take another approach" in told_in(answered, 1)


async def test_020_fr_021_stuck_counts_whatever_the_classifier_makes_of_it() -> None:
    stuck = signal_xml("stuck", attempted="a", blocker="b")
    async with harness([says("No." + stuck), answers()], intents=Says("context_sufficient")) as it:
        answered = await it.ask()
    assert answered.done.turns == 2


# --- US5-4, FR-022, SC-006: without BERT


async def test_020_us5_4_fr_022_without_a_classifier_heuristics_answer() -> None:
    assert HeuristicIntentClassifier().name
    async with harness([*searching(2), says("Next I will read the configuration."), answers()]) as it:
        answered = await it.ask()
    assert answered.done.turns == 4
    assert GOING_ON in answered.messages


@pytest.mark.parametrize(
    ("text", "reason", "turns"),
    [
        ("The policy tries three times (`src/retry.py:4`).", "completed", 3),
        ("I could not find anything about it anywhere, all searches came back empty.", "completed", 4),
        ("Here is what I found so far. Next, I need to check the configuration.", "completed", 4),
    ],
    ids=["an answer", "stuck", "under way"],
)
async def test_020_sc_006_every_case_of_the_fallback_works_on_heuristics_alone(
    text: str, reason: str, turns: int
) -> None:
    async with harness([*searching(2), says(text), answers()]) as it:
        answered = await it.ask()
    assert (answered.reason, answered.done.turns) == (reason, turns)


async def test_020_sc_006_a_classifier_that_fails_does_not_take_the_answer_with_it() -> None:
    class Broken:
        name = "broken"

        def classify(self, text: str) -> ResponseIntent:
            raise RuntimeError("the weights are gone")

    async with harness([*searching(2), says("The answer.")], intents=Broken()) as it:
        answered = await it.ask()
    assert answered.reason == "completed"
    assert answered.answer == "The answer."
    stuck = signal_xml("stuck", attempted="a", blocker="b")
    async with harness([says("No." + stuck), answers()], intents=Broken()) as it:
        answered = await it.ask()
    assert answered.messages == [STUCK_NOTICE]
    assert answered.done.turns == 2


# --- an empty answer is none


@pytest.mark.parametrize("signal", ["", signal_xml("context_sufficient", sources_found=0)])
async def test_020_a_response_in_which_nothing_is_said_gets_another_try(control: ControlName, signal: str) -> None:
    async with harness([says(signal), answers("Here it is.")], control=control) as it:
        answered = await it.ask()
    assert answered.done.turns == 2
    assert answered.answer == "Here it is."


async def test_020_a_model_that_never_says_anything_ends_as_stuck_not_as_an_empty_answer() -> None:
    async with harness(repeat(says(""))) as it:
        answered = await it.ask()
    assert answered.reason == "stuck"
    assert answered.answer == "Stopped: could not get further - the model kept giving empty responses."
    assert answered.done.turns == 3


@pytest.mark.parametrize("signal", ["", signal_xml("context_sufficient", sources_found=0)])
async def test_020_an_empty_end_after_words_beside_tool_calls_is_no_answer_either(
    control: ControlName, signal: str
) -> None:
    turns = [says("Let me look.", calls("list_files")), says(signal), answers("Here it is.")]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
    assert answered.reason == "completed"
    assert answered.answer == "Let me look.\n\nHere it is."
    assert EMPTY_TURN in told_in(answered, 2)


async def test_020_after_three_empty_turns_in_a_row_either_control_is_stuck(control: ControlName) -> None:
    turns = [says("Let me look.", calls("list_files")), *repeat(says(""), 9)]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
    assert answered.reason == "stuck"
    assert answered.done.turns == 4
    assert answered.last_sentence == "Stopped: could not get further - the model kept giving empty responses."


async def test_turns_beside_the_answer_do_not_hide_that_the_model_says_nothing() -> None:
    async with harness(repeat(says("")), wire=False) as it:
        it.edit_tree("oracle", "- llm_turn #", "- llm_turn\n                - llm_turn: {visible: false} #")
        answered = await it.ask()
    assert answered.reason == "stuck"
    assert answered.done.turns == 6


async def test_020_a_delegation_without_words_is_no_answer() -> None:
    signal = signal_xml("delegation_recommended", reason="it is large", scope="all")
    async with harness([says(signal), says("Too large for me." + signal)]) as it:
        answered = await it.ask()
    assert answered.answer == "Too large for me."


async def test_020_an_empty_end_is_answered_by_a_note_behind_the_results_that_were_sent_before() -> None:
    async with harness([says("", calls("list_files")), says(""), answers()]) as it:
        answered = await it.ask()
    (before,), (results, note) = answered.bodies[1]["messages"][2:], answered.bodies[2]["messages"][2:]
    assert (results["role"], note["role"]) == ("user", "system")
    assert results["content"][0]["content"] == before["content"][0]["content"]
