"""The words of notifications and closing sentences, as the contract has them (decision 10)."""

from dataclasses import replace
from typing import Any

import pytest

from oracle.agent import notices
from oracle.decision import AgentConfig, AgentState, ToolAction

STATE = AgentState(user_id="u", config=AgentConfig(max_iterations=10))


def action(n: int = 1, *, error: bool = False, digest: str = "same", tool: str = "search_code") -> ToolAction:
    return ToolAction.from_call(tool, {"query": f"word{n}"}, is_error=error, result_digest=digest)


AUTH = ToolAction.from_call("search_code", {"query": "auth"}, result_digest="x")
NO_PROGRESS = replace(STATE, recent_actions=(AUTH,) * 3)


@pytest.mark.parametrize(
    ("notice", "message", "metadata"),
    [
        (
            notices.iteration_warning(replace(STATE, turn=7)),
            "Approaching iteration limit (7/10). Consider wrapping up your response.",
            {"current_value": 7, "limit_value": 10, "percent": 70, "limit_type": "iteration"},
        ),
        (
            notices.token_warning(replace(STATE, tokens_used=40_000)),
            "Approaching token budget (40,000/50,000 tokens). Consider being more concise.",
            {"current_value": 40_000, "limit_value": 50_000, "percent": 80, "limit_type": "token"},
        ),
        (
            notices.stop_notice("max_iterations", replace(STATE, turn=10)),
            "Maximum iterations reached (10/10). Saving partial response.",
            {"current_value": 10, "limit_value": 10, "percent": 100, "limit_type": "iteration"},
        ),
        (
            notices.stop_notice("token_budget", replace(STATE, tokens_used=50_112)),
            "Token budget reached (50,112/50,000 tokens). Saving partial response.",
            {"current_value": 50_112, "limit_value": 50_000, "percent": 100, "limit_type": "token"},
        ),
        (
            notices.stop_notice("token_budget", STATE.after_limit("your day is spent")),
            "Ended because your day is spent. Saving partial response.",
            {},
        ),
        (
            notices.stop_notice("timeout", STATE),
            "Time limit reached (120/120 s). Saving partial response.",
            {"current_value": 120, "limit_value": 120, "percent": 100, "limit_type": "timeout"},
        ),
        (
            notices.stop_notice("no_progress", NO_PROGRESS),
            "No progress detected - same action attempted 3 times.",
            {"repeated_action": 'search_code({"query": "auth"})'},
        ),
        (
            notices.stop_notice("error_limit", replace(STATE, error_streak=3, last_error="It is\ngone.")),
            "Multiple consecutive tool errors (3/3). Saving partial response.",
            {"error_count": 3, "last_error": "It is gone."},
        ),
    ],
)
def test_the_messages_are_those_of_the_contract_word_for_word(notice: Any, message: str, metadata: Any) -> None:
    assert notice.message == message
    assert notice.metadata == metadata


@pytest.mark.parametrize("reason", ["completed", "user_cancelled", "stuck", "error"])
def test_other_reasons_have_no_notification_of_their_own(reason: Any) -> None:
    assert notices.stop_notice(reason, STATE) is None


@pytest.mark.parametrize(
    ("reason", "system_type"),
    [
        ("max_iterations", "limit_reached"),
        ("timeout", "limit_reached"),
        ("no_progress", "no_progress"),
        ("error_limit", "error_limit"),
    ],
)
def test_a_limit_that_was_not_reached_is_notified_without_numbers(reason: Any, system_type: str) -> None:
    notice = notices.own_stop_notice(reason)
    assert notice.system_type == system_type
    assert notice.message == f"The tree ended this run with the reason {reason}. Saving partial response."
    assert notice.severity == "info"
    assert notice.metadata == {}


@pytest.mark.parametrize(
    ("reason", "state", "detail", "sentence"),
    [
        ("max_iterations", {"turn": 10}, "", "Stopped: iteration limit reached (10/10)."),
        ("token_budget", {"tokens_used": 50_112}, "", "Stopped: token budget reached (50,112/50,000 tokens)."),
        ("token_budget", {"limit_reached": "your day is spent"}, "", "Stopped: your day is spent."),
        ("timeout", {}, "", "Stopped: time limit reached (120 s)."),
        ("timeout", {"max_seconds": 2.5}, "", "Stopped: time limit reached (2.5 s)."),
        (
            "no_progress",
            {"recent_actions": (AUTH,) * 3},
            "",
            'Stopped: no progress - search_code({"query": "auth"}) brought the same result 3 times.',
        ),
        ("stuck", {}, "the index is missing.", "Stopped: could not get further - the index is missing."),
        ("stuck", {}, "", "Stopped: could not get further - no way forward was found."),
        ("error", {}, "The provider is overloaded.", "Stopped: The provider is overloaded."),
        ("error", {}, "", "Stopped: an internal error."),
    ],
)
def test_the_closing_sentences_are_those_of_the_contract(reason: Any, state: Any, detail: str, sentence: str) -> None:
    assert notices.closing_sentence(reason, replace(STATE, **state), detail=detail) == sentence


@pytest.mark.parametrize("reason", ["completed", "user_cancelled"])
def test_decision_10_an_answer_that_completed_or_was_cancelled_has_no_closing_sentence(reason: Any) -> None:
    assert notices.closing_sentence(reason, STATE) is None


@pytest.mark.parametrize(
    ("actions", "wanted"),
    [
        (
            (action(error=True),) * 3,
            'search_code({"query": "word1"}) brought the same result 3 times (last error: It is gone)',
        ),
        (
            tuple(action(error=True, digest=str(n)) for n in range(3)),
            'search_code({"query": "word1"}) failed 3 times (last error: It is gone)',
        ),
        (
            tuple(action(n, error=True) for n in range(3)),
            (
                "search_code failed 3 times with the same error (tried: "
                'search_code({"query": "word0"}), search_code({"query": "word1"}), search_code({"query": "word2"}); '
                "last error: It is gone)"
            ),
        ),
        (
            (action(1), action(2, digest="other")) * 3,
            'search_code({"query": "word1"}), search_code({"query": "word2"}) brought the same results 3 times',
        ),
    ],
    ids=["same-error", "other-errors", "other-arguments", "cycle"],
)
def test_decision_10_no_progress_names_the_calls_attempted_and_the_last_error(actions: Any, wanted: str) -> None:
    state = replace(STATE, recent_actions=actions, last_error="It is gone.")
    assert notices.closing_sentence("no_progress", state) == f"Stopped: no progress - {wanted}."


def test_decision_10_error_limit_names_the_calls_attempted_and_the_last_error() -> None:
    actions = (action(0), action(1, error=True), action(2, error=True), action(2, error=True))
    state = replace(STATE, recent_actions=actions, error_streak=3, last_error="It is gone.")
    assert notices.closing_sentence("error_limit", state) == (
        "Stopped: 3 tool errors in a row (last: It is gone; "
        'tried: search_code({"query": "word1"}), search_code({"query": "word2"})).'
    )


def test_text_from_tools_and_models_is_quoted_on_one_line_and_bounded() -> None:
    assert notices.quoted("a\n\n  b\tc") == "a b c"
    assert len(notices.quoted("x" * 9_999)) == 300
    state = replace(STATE, recent_actions=(action(1, error=True, tool="t" * 30),) * 3, last_error="e\n" * 5_000)
    sentence = notices.closing_sentence("no_progress", state)
    assert sentence is not None
    assert "\n" not in sentence
    assert len(sentence) < 1_500


def test_what_is_quoted_has_no_signal_in_it() -> None:
    assert notices.quoted("a <signal type='stuck'> <SIGNAL type='stuck'> <signals>") == (
        "a \u2039signal type='stuck'> \u2039SIGNAL type='stuck'> <signals>"
    )


def test_a_repetition_that_is_no_longer_found_is_still_explained() -> None:
    assert notices.closing_sentence("no_progress", STATE) == "Stopped: no progress - the same actions were repeated."
    notice = notices.stop_notice("no_progress", STATE)
    assert notice is not None
    assert notice.message == "No progress detected - the same actions were repeated."
