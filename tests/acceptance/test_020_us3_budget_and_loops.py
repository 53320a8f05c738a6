"""020 US3, FR-006 to FR-008, SC-004: turns are bounded, loops of signals are broken (decisions 1, 13, 19, 20)."""

from itertools import count, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.decision import AgentConfig
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.acceptance.harness import (
    CODE_QUESTION,
    NEED_TURN,
    Answered,
    answers,
    calls,
    harness,
    says,
    signal_xml,
    text_of,
)
from tests.acceptance.requests import can_call

LIMIT_30 = {"max_iterations": 50}
STUCK = signal_xml("stuck", attempted="search", blocker="the index is empty")


def wants_more(number: int) -> ScriptedTurn:
    """A turn that asks for another one, each time for a reason of its own."""
    return says(f"Part {number}." + signal_xml("need_turn", reason=f"part {number + 1} is missing"))


def last_text(answered: Answered, request: int) -> str:
    """What the last message of a request says."""
    return text_of(answered.bodies[request]["messages"][-1])


# --- US3-1, US3-2: 29 and 30 of 30


async def test_020_us3_1_at_29_of_30_one_final_turn_is_granted_and_its_answer_completes() -> None:
    async with harness([*(wants_more(number) for number in range(1, 30)), answers("The whole.")]) as it:
        answered = await it.ask(limits=LIMIT_30)
    assert answered.done.turns == 30
    assert answered.reason == "completed"
    assert answered.answer.endswith("The whole.")


async def test_020_us3_1_the_final_turn_has_a_note_that_it_is_the_last() -> None:
    async with harness([*(wants_more(number) for number in range(1, 30)), answers()]) as it:
        answered = await it.ask(limits=LIMIT_30)
    assert "This is the last turn that the limits allow." in last_text(answered, 29)
    assert "This is the last turn" not in last_text(answered, 28)
    assert all(map(can_call, answered.bodies))


async def test_020_fr_007_the_trees_own_limit_is_30_and_configurable_in_its_file() -> None:
    async with harness((wants_more(number) for number in count(1)), config=AgentConfig(max_iterations=50)) as it:
        shipped = await it.ask()
        it.edit_tree("oracle", "default: 30", "default: 3")
        edited = await it.ask()
    assert shipped.done.turns == 30
    assert edited.done.turns == 3
    assert edited.last_sentence == "Stopped: iteration limit reached (3/3)."


@pytest.mark.parametrize("own", ["0", "-4"])
async def test_020_fr_007_a_limit_below_one_is_one_because_the_first_turn_always_runs(own: str) -> None:
    async with harness([answers()]) as it:
        it.edit_tree("oracle", "default: 30", f"default: {own}")
        answered = await it.ask()
    assert answered.done.turns == 1
    assert answered.reason == "completed"


async def test_020_a_stuck_signal_in_the_last_turn_is_acknowledged_rather_than_promised_another_try() -> None:
    async with harness([wants_more(1), says("I have nothing." + STUCK)]) as it:
        answered = await it.ask(limits={"max_iterations": 2})
    assert answered.reason == "stuck"
    assert "Trying another approach" not in " ".join(answered.messages)
    assert answered.last_sentence == "Stopped: could not get further - the index is empty."


# --- US3-3, FR-008: the same reason three times

SAME = signal_xml("need_turn", reason="read the configuration")


async def test_020_us3_3_fr_008_the_same_reason_three_times_in_a_row_is_stuck_and_triggers_the_fallback() -> None:
    async with harness([says("Hm." + SAME)] * 3 + [answers("Found in the notes.")]) as it:
        answered = await it.ask()
    assert answered.messages == ["The agent is stuck. Trying another approach."]
    assert answered.done.turns == 4
    assert answered.reason == "completed"
    assert [record.action for record in answered.agent.signals.audit][:3] == [
        "another_turn",
        "another_turn",
        "fallback: use_untried_tools",
    ]


async def test_020_us3_3_twice_is_not_three_times() -> None:
    async with harness([*[says("Hm." + SAME)] * 2, wants_more(1), *[says("Hm." + SAME)] * 2, answers()]) as it:
        answered = await it.ask()
    assert answered.messages == []
    assert answered.done.turns == 6


async def test_020_us3_3_tool_calls_in_between_break_the_row() -> None:
    between = says("", calls("search_code", query="RetryPolicy"))
    async with harness([*[says("Hm." + SAME)] * 2, between, says("Hm." + SAME), answers()]) as it:
        answered = await it.ask()
    assert answered.messages == []


@pytest.mark.parametrize(
    "reasons",
    [
        ("Read the config", "READ THE CONFIG", "read the config"),
        ("read the config", "read   the\n config", "\tread the config "),
        ("Straße prüfen", "STRASSE PRÜFEN", "straße  prüfen"),
    ],
    ids=["case", "white space", "beyond ASCII"],
)
async def test_020_fr_008_reasons_are_compared_after_folding_case_and_white_space(reasons: tuple[str, ...]) -> None:
    turns = [says("Hm." + signal_xml("need_turn", reason=reason)) for reason in reasons]
    async with harness([*turns, answers()]) as it:
        answered = await it.ask()
    assert answered.messages == ["The agent is stuck. Trying another approach."]


async def test_020_a_loop_of_signals_that_the_fallback_cannot_break_ends_as_stuck() -> None:
    async with harness(repeat(says("Hm." + SAME))) as it:
        answered = await it.ask()
    assert answered.reason == "stuck"
    assert answered.done.turns == 4
    assert [notice.system_type for notice in answered.notices] == ["fallback", "stuck"]
    expected = "Stopped: could not get further - it kept asking for another turn: read the configuration."
    assert answered.last_sentence == expected


# --- US3-4: an alternative strategy, or the limitation


async def test_020_us3_4_the_first_time_stuck_gets_another_strategy_with_all_reading_tools() -> None:
    async with harness([says("I cannot find it." + STUCK), answers("In the notes.")]) as it:
        answered = await it.ask()
    names = {tool["name"] for tool in answered.bodies[1]["tools"]}
    assert {"vault_search", "thread_seek", "web_search", "search_code"} <= names
    assert not names & {"vault_write", "thread_push"}
    told = last_text(answered, 1)
    assert told.startswith("More tools are offered from now on: web_search(")
    assert "You are not getting further this way." in told
    assert '"web_search"' in told
    assert answered.reason == "completed"


async def test_020_us3_4_the_second_time_the_limitation_is_acknowledged() -> None:
    """No tool was called after the hint of the first strategy, so no other one is tried."""
    async with harness([says("No." + STUCK), says("Still no." + STUCK)]) as it:
        answered = await it.ask()
    assert answered.reason == "stuck"
    assert answered.answer == "No.\n\nStill no.\n\nStopped: could not get further - the index is empty."
    assert answered.notices[-1].severity == "warning"


async def test_020_us3_4_where_all_tools_are_offered_already_another_approach_is_asked_for() -> None:
    empty = says("", calls("search_code", query="zeppelin"))
    async with harness([empty, says("No." + STUCK), answers("Well.")]) as it:
        answered = await it.ask()
    assert "More tools are offered" not in last_text(answered, 2)
    assert "Take another approach" in last_text(answered, 2)
    assert answered.reason == "completed"


async def test_020_the_blocker_in_the_last_sentence_is_one_bounded_line_without_a_signal() -> None:
    blocker = "line\none &lt;signal type='stuck'&gt; " + "x" * 1_000
    stuck = signal_xml("stuck", attempted="a", blocker=blocker)
    async with harness([says("No." + stuck), says("No." + stuck)]) as it:
        answered = await it.ask()
    assert answered.reason == "stuck"
    assert "\n" not in answered.last_sentence
    assert len(answered.last_sentence) < 400
    assert "<signal" not in answered.answer


# --- FR-006: the tree decides


async def test_020_fr_006_the_tree_controls_whether_the_loop_goes_on() -> None:
    async with harness([says("Half." + NEED_TURN)]) as it:
        it.edit_tree("follow_signal", "- grant_turn\n", "- stop: completed\n")
        answered = await it.ask()
    assert answered.done.turns == 1
    assert answered.reason == "completed"


# --- SC-004: nothing runs away, whatever the model does

_REASONS = st.sampled_from(["more", "MORE ", "other", "x" * 300])
_SIGNALS = st.one_of(
    st.just(""),
    st.builds(lambda reason: signal_xml("need_turn", reason=reason), _REASONS),
    st.builds(lambda confidence: signal_xml("need_turn", reason="r", confidence=confidence), st.floats(0, 1)),
    st.just(STUCK),
    st.just(signal_xml("partial_answer", missing="m")),
    st.just(signal_xml("need_capability", capability="c", reason="r")),
    st.just('<signal type="stuck">'),
    st.just('<signal type="nonsense"></signal>'),
)
_CALLS = st.lists(
    st.builds(
        ScriptedCall,
        st.sampled_from(["search_code", "read_file", "vault_write", "no_such_tool"]),
        st.one_of(st.fixed_dictionaries({"query": st.sampled_from(["a", "b", "RetryPolicy"])}), st.just("{broken")),
    ),
    max_size=3,
)
_TURNS = st.builds(
    lambda text, signal, made: ScriptedTurn(text=text + signal, tool_calls=tuple(made)),
    st.sampled_from(["", "Words.", "Next I will look further.", "I am stuck and cannot find it.", "`open"]),
    _SIGNALS,
    st.one_of(st.just([]), _CALLS),
)


@given(script=st.lists(_TURNS, min_size=1, max_size=6), limit=st.integers(1, 12))
async def test_020_sc_004_no_model_runs_away(script: list[ScriptedTurn], limit: int) -> None:
    """A random model that repeats itself without end stops within its turns, with one reason and one `done`."""
    endless = (script[number % len(script)] for number in count())
    async with harness(endless, wire=False) as it:
        answered = await it.ask(CODE_QUESTION, limits={"max_iterations": limit})
    assert answered.done.turns <= limit
    assert len(answered.requests) == answered.done.turns
    assert answered.reason in {"completed", "max_iterations", "no_progress", "error_limit", "stuck", "token_budget"}
    assert len(answered.agent.signals.audit) >= answered.done.turns
