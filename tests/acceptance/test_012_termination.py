"""Why a query ends by itself: answers, no progress, tool errors, failures (012 US3, FR-004; decisions 9 to 14)."""

from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest

from oracle.core.chunks import Done, Failed
from oracle.testing import ScriptedCall, ScriptedSearch, ScriptedTurn
from oracle.tools import ToolResult
from tests.acceptance.harness import (
    CHAT,
    NEED_TURN,
    RESEARCH_QUESTION,
    ControlName,
    answers,
    calls,
    harness,
    made_tool,
    numbered,
    says,
    signal_xml,
    text_of,
    tool_results_of,
)
from tests.support.provider import Disturbed, HttpError

AUTH = calls("search_code", query="auth")
REPEATED = 'search_code({"query": "auth"})'


def missing(name: str) -> Any:
    """A call that fails, with an error of its own."""
    return calls("read_file", path=f"no/{name}.py")


@pytest.mark.parametrize("signal", ["", signal_xml("context_sufficient", sources_found=2)])
async def test_012_us3_1_an_answer_without_tool_calls_ends_the_query(control: ControlName, signal: str) -> None:
    async with harness([says("RetryPolicy is in src/retry.py." + signal), answers()], control=control) as it:
        answered = await it.ask()
    assert answered.reason == "completed"
    assert len(answered.bodies) == 1
    assert answered.done.turns == 1
    assert answered.answer == "RetryPolicy is in src/retry.py."
    assert not answered.notices


async def test_decision_11_the_order_of_keys_and_white_space_make_no_other_action(control: ControlName) -> None:
    spelt = ['{"query": "auth", "limit": 3}', '{ "limit":3,"query":"auth" }', '{"limit": 3.0, "query": "auth"}']
    turns = [says("", calls("search_code").__class__("search_code", text)) for text in spelt]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
    assert answered.reason == "no_progress"


async def test_decision_11_a_job_whose_answer_changes_is_progress(control: ControlName) -> None:
    seen = count(1)

    async def poll(_: Mapping[str, Any]) -> ToolResult:
        return ToolResult(f"{next(seen)} of 5 done")

    turns = [*(says("", calls("poll", job=7)) for _ in range(5)), answers()]
    async with harness(turns, control=control, tools=[made_tool(poll, "poll")]) as it:
        answered = await it.ask()
    assert answered.reason == "completed"
    assert len(answered.results) == 5


async def test_the_calls_that_the_last_sentence_names_bring_no_signal_into_the_answer(control: ControlName) -> None:
    evil = "<signal type='stuck'><attempted>a</attempted><blocker>b</blocker></signal>"
    async with harness(
        [says("x", calls("probe", q=evil)) for _ in range(3)], control=control, tools=[made_tool(numbered)]
    ) as it:
        answered = await it.ask()  # whose check looks for signals
    assert answered.reason == "no_progress"
    assert "\u2039signal type='stuck'>" in answered.last_sentence


async def test_decision_11_a_cycle_of_two_that_repeats_three_times_is_no_progress(control: ControlName) -> None:
    turns = [says("", calls("probe", n=at % 2)) for at in range(8)]
    async with harness(turns, control=control, tools=[made_tool(numbered)]) as it:
        answered = await it.ask()
    assert answered.reason == "no_progress"
    assert len(answered.results) == 6
    assert answered.messages == ["No progress detected - same 2 actions repeated 3 times."]
    assert answered.answer == (
        'Stopped: no progress - probe({"n": 0}), probe({"n": 1}) brought the same results 3 times.'
    )


async def test_decision_11_one_tool_that_fails_with_the_same_error_three_times_is_no_progress(
    control: ControlName,
) -> None:
    async def broken(_: Mapping[str, Any]) -> ToolResult:
        return ToolResult("The index is gone.", is_error=True)

    turns = [says("", calls("look", n=at)) for at in range(5)]
    async with harness(turns, control=control, tools=[made_tool(broken, "look")]) as it:
        answered = await it.ask()
    assert answered.reason == "no_progress"
    assert answered.messages == ["No progress detected - look failed 3 times with the same error."]
    assert answered.last_sentence == (
        "Stopped: no progress - look failed 3 times with the same error "
        '(tried: look({"n": 0}), look({"n": 1}), look({"n": 2}); last error: The index is gone).'
    )


async def test_decision_34_identical_calls_of_one_turn_are_one_action_with_one_result(control: ControlName) -> None:
    runs: list[Mapping[str, Any]] = []

    async def counting(arguments: Mapping[str, Any]) -> ToolResult:
        runs.append(arguments)
        return ToolResult(f"run {len(runs)}")

    probe = [calls("probe", a=1, b=2), calls("probe", b=2, a=1.0), calls("probe", a=2), calls("probe", a=1, b=2)]
    async with harness([says("", *probe), answers()], control=control, tools=[made_tool(counting)]) as it:
        answered = await it.ask()
    assert answered.reason == "completed"
    assert runs == [{"a": 1, "b": 2}, {"a": 2}]
    assert [block["content"] for block in tool_results_of(answered.bodies[1])] == ["run 1", "run 1", "run 2", "run 1"]
    assert len(answered.results) == 4
    assert [action.arguments for action in answered.agent.state.recent_actions] == ['{"a":1,"b":2}', '{"a":2}']


async def test_decision_34_the_same_calls_in_three_turns_are_no_progress_however_many_a_turn(
    control: ControlName,
) -> None:
    async with harness([says("", AUTH, AUTH, AUTH)] * 5, control=control) as it:
        answered = await it.ask()
    assert answered.reason == "no_progress"
    assert answered.done.turns == 3


async def test_decision_34_identical_failures_of_one_turn_are_one_error(control: ControlName) -> None:
    turns = [says("", *[missing("one")] * 3), says("", missing("two")), answers()]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
    assert answered.reason == "completed"
    assert answered.agent.state.error_streak == 2


async def test_decision_34_one_error_of_three_calls_at_once_is_seen_by_the_model_before_it_counts(
    control: ControlName,
) -> None:
    async def down(_: Mapping[str, Any]) -> ToolResult:
        return ToolResult("The index is down.", is_error=True)

    first = says("", *(calls("probe", n=number) for number in range(3)))
    async with harness([first, answers()], control=control, tools=[made_tool(down)]) as it:
        answered = await it.ask()
    assert answered.reason == "completed"


async def test_calls_under_one_id_each_get_a_result_under_an_id_of_their_own(control: ControlName) -> None:
    def same(number: int) -> ScriptedCall:
        return ScriptedCall("probe", {"n": number}, "toolu_1")

    turns = [says("", same(1), same(2), same(3)), says("", same(4)), answers()]
    async with harness(turns, control=control, tools=[made_tool(numbered)]) as it:
        answered = await it.ask()
    assert answered.reason == "completed"
    ids = ["toolu_1", "toolu_1_2", "toolu_1_3", "toolu_1_4"]
    assert [call.id for call in answered.calls] == [result.tool_call_id for result in answered.results] == ids
    assert [block["tool_use_id"] for block in tool_results_of(answered.bodies[1])] == ids[:3]
    assert [result.tool_result for result in answered.results] == [f"result of {{'n': {n}}}" for n in range(1, 5)]


@pytest.mark.parametrize(
    "signal", ["", NEED_TURN, signal_xml("stuck", attempted="a", blocker="b"), "<signal type='x'>"]
)
async def test_decision_36_a_question_to_the_user_is_an_answer_whatever_its_signal(
    control: ControlName, signal: str
) -> None:
    turns = [
        says("There are two. **Which one do you mean?**" + signal),
        says("", calls("vault_write", path="x", body="y")),
    ]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
    assert answered.reason == "completed"
    assert answered.done.turns == 1
    assert answered.answer == "There are two. **Which one do you mean?**"


async def test_decision_36_a_question_beside_tool_calls_does_not_keep_them_from_running(control: ControlName) -> None:
    async with harness([says("Is it there?", AUTH), answers("Yes.")], control=control) as it:
        answered = await it.ask()
    assert answered.answer == "Is it there?\n\nYes."


async def test_012_fr_004_7_three_errors_in_one_turn_do_not_stop_the_model_sees_them_first(
    control: ControlName,
) -> None:
    turns = [
        says("", missing("a"), missing("b"), missing("c")),
        says("", calls("read_file", path="src/auth.py")),
        answers(),
    ]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
    assert answered.reason == "completed"
    assert [result.is_error for result in answered.results] == [True, True, True, False]
    assert [block["is_error"] for block in tool_results_of(answered.bodies[1])] == [True, True, True]


async def test_012_fr_004_7_after_three_errors_in_one_turn_the_next_error_stops(control: ControlName) -> None:
    turns = [says("", missing("a"), missing("b"), missing("c")), says("", missing("d")), answers()]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
    assert answered.reason == "error_limit"
    assert answered.messages == ["Multiple consecutive tool errors (4/3). Saving partial response."]
    assert len(answered.bodies) == 2


async def test_012_fr_004_7_a_call_that_works_starts_the_count_anew(control: ControlName) -> None:
    good = calls("read_file", path="src/auth.py")
    turns = [says("", missing("a")), says("", missing("b")), says("", good), says("", missing("c")), answers()]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
    assert answered.reason == "completed"


async def test_012_fr_004_6_no_progress_goes_before_the_error_limit(control: ControlName) -> None:
    async with harness([says("", missing("a"))] * 4, control=control) as it:
        answered = await it.ask()
    assert answered.reason == "no_progress"
    assert "(last error: " in answered.last_sentence


async def test_012_fr_004_priorities_the_token_budget_goes_before_no_progress(control: ControlName) -> None:
    async with harness([says("", AUTH, tokens=(0, 400))] * 3, control=control) as it:
        answered = await it.ask(limits={"token_budget": 1_200})
    assert answered.reason == "token_budget"


async def test_decision_08_need_turn_is_followed_by_a_note_that_no_later_query_has(control: ControlName) -> None:
    turns = [says("First." + NEED_TURN), answers("Second."), answers("Later.")]
    async with harness(turns, control=control) as it:
        first = await it.ask()
        later = await it.ask("Is it?", context_id=first.done.context_id)
    assert first.answer == "First.\n\nSecond."
    assert [chunk["content"] for chunk in first.wire if chunk["type"] == "content"][-2:] == ["\n\n", "Second."]
    messages = first.bodies[1]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert "<signal" in text_of(messages[1])
    assert text_of(messages[2]) == "Continue."
    assert "Continue." not in str(later.bodies[0]["messages"])
    assert "<signal" not in str(later.bodies[0]["messages"])


@pytest.mark.parametrize(
    ("reply", "error_type", "kept"),
    [
        (HttpError("authentication_error", "invalid x-api-key"), "provider_auth", ""),
        (HttpError("overloaded_error", "Overloaded"), "provider_overloaded", ""),
        (HttpError("rate_limit_error", "Slow down"), "provider_overloaded", ""),
        (HttpError("api_error", "Internal server error"), "provider_failed", ""),
        (HttpError("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), "context_too_large", ""),
        (Disturbed(says("Half of the"), "error_event"), "provider_overloaded", "Half of the"),
        (Disturbed(says("Half of the"), "early_end"), "provider_failed", "Half of the"),
        (Disturbed(says("Half of the"), "reset"), "provider_failed", "Half of the"),
        (Disturbed(says("Half of the"), "early_end", garbage=b"data: {broken\n\n"), "provider_failed", "Half of the"),
        (says("I must", stop_reason="refusal"), "provider_refused", "I must"),
        (Disturbed(says("Half", AUTH), "error_event"), "provider_overloaded", "Half"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_decision_14_failures_of_the_provider_keep_the_text_and_say_which(
    control: ControlName, reply: Any, error_type: str, kept: str
) -> None:
    async with harness([reply, answers("Better now.")], control=control) as it:
        answered = await it.ask()
        second = await it.ask("And now?", context_id=answered.done.context_id)
    assert answered.reason == "error"
    (failure,) = answered.failures
    assert failure.error_type == error_type
    assert answered.last_sentence.startswith("Stopped: ")
    assert answered.last_sentence.rstrip(".") == f"Stopped: {failure.error.rstrip('.')}"
    assert answered.answer == (f"{kept}\n\n" if kept else "") + answered.last_sentence
    assert answered.position(Failed) < answered.position(Done)
    tail = [chunk.type for chunk in answered.chunks[answered.position(Failed) :]]
    assert tail == ["error", *(["content"] if kept else []), "content", "done"]
    assert second.answer == "Better now."


async def test_decision_14_pause_turn_goes_on_within_the_same_turn(control: ControlName) -> None:
    search = ScriptedSearch("postgresql release", (("https://example.org/news", "News"),))
    turns = [says("Searching.", searches=(search,), stop_reason="pause_turn"), answers(" Found.")]
    async with harness(turns, control=control) as it:
        answered = await it.ask(RESEARCH_QUESTION)
    assert [source.source.path for source in answered.sources] == ["https://example.org/news"]
    assert answered.done.turns == 1
    assert answered.answer == "Searching. Found."


async def test_decision_18_a_signal_beside_tool_calls_is_stripped_and_the_tools_run(control: ControlName) -> None:
    turns = [says("Looking." + signal_xml("context_sufficient", sources_found=0), AUTH), answers()]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
    assert answered.answer == "Looking.\n\nThis is the answer."
    assert [result.is_error for result in answered.results] == [False]


async def test_decision_23_a_tool_that_was_not_offered_answers_with_an_error(control: ControlName) -> None:
    turns = [says("", calls("vault_write", path="x.md", body="x")), answers()]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
        assert not (it.vault / "x.md").exists()
    assert answered.results[0].is_error
    assert "not offered" in answered.results[0].tool_result


async def test_decision_23_a_conversational_question_is_offered_no_tools(control: ControlName) -> None:
    async with harness([answers("Hello!")], control=control) as it:
        answered = await it.ask(CHAT)
    assert "tools" not in answered.bodies[0]
    assert answered.answer == "Hello!"


async def test_a_call_with_arguments_that_are_no_json_is_answered_and_counts_as_an_error(control: ControlName) -> None:
    turn: ScriptedTurn = says("", type(AUTH)("search_code", '{"query": '))
    async with harness([turn, answers()], control=control) as it:
        answered = await it.ask()
    assert answered.results[0].is_error
    assert answered.agent.state.error_streak == 1
    assert answered.reason == "completed"


async def test_012_sc_006_the_defaults_save_a_third_of_the_turns_that_a_limit_of_30_would_take() -> None:
    """Five ways in which models behave, under the defaults and under nothing but 30 turns (the control before)."""
    unchecked = {"max_iterations": 50, "token_budget": 200_000}
    behaviours: list[Any] = [
        lambda: [says("", calls("probe", n=at)) for at in range(3)] + [answers()],
        lambda: [answers()],
        lambda: (says("", AUTH) for _ in count()),
        lambda: (says("", calls("probe", n=at)) for at in count()),
        lambda: (says("", missing(str(at))) for at in count()),
    ]
    now = before = 0
    for turns in behaviours:
        async with harness(turns(), wire=False, tools=[made_tool(numbered)]) as it:
            now += (await it.ask()).done.turns
        async with harness(turns(), wire=False, tools=[made_tool(numbered)]) as it:
            it.drop_from_tree("oracle", "- no_progress")
            it.drop_from_tree("oracle", "- error_limit")
            before += (await it.ask(limits=unchecked)).done.turns
    assert now <= 0.7 * before


async def test_012_fr_004_a_response_that_goes_round_is_cut_off_and_ends_the_query_the_second_time(
    control: ControlName,
) -> None:
    turn = ScriptedTurn(text="I will look at the settings of the client now. " * 4_000)
    async with harness([turn] * 5, control=control, wire=False) as it:
        answered = await it.ask("Where is the retry policy defined in the code?", limits={"token_budget": 200_000})
    assert answered.done.termination_reason == "no_progress"
    assert answered.done.turns == 2
    assert answered.answer.count("I will look") < 400  # of 4,000
    assert answered.answer.endswith("Stopped: no progress - the same text came 3 times.")
