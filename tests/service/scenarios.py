"""Every way in which a query ends by itself, and what a client is to see then (012 FR-004; decisions 8 to 14, 19)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.acceptance.scripts import CODE_QUESTION, NEED_TURN, answers, calls, hangs, says, signal_xml
from tests.support.provider import Disturbed, HttpError, Reply

AUTH = calls("search_code", query="auth")
REFUSED = "Not run: the limits leave no turn to read the result."
STUCK = signal_xml("stuck", attempted="search", blocker="the index is empty")


def searching(number: int, *, tokens: Any = 10) -> list[Reply]:
    """So many turns, each of which searches for something else."""
    return [
        says(f"Step {at}.", calls("search_code", query="RetryPolicy", limit=at), tokens=tokens)
        for at in range(1, number + 1)
    ]


def missing(name: str) -> Any:
    """A call that fails, with an error of its own."""
    return calls("read_file", path=f"no/{name}.py")


def steps(number: int) -> str:
    return "\n\n".join(f"Step {at}." for at in range(1, number + 1))


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is said, and what comes of it.

    Args:
        id: in the names of tests.
        replies: makes what the provider says.
        reason: of the end.
        answer: the whole of it.
        messages: the words of the system messages, in order.
        limits: of the query.
        requests: how many the provider sees.
        error_type: of the error chunk, if there is one.
        is_cut: the connection to the provider is closed in mid-response.
        question: what is asked.
    """

    id: str
    replies: Callable[[], list[Reply]]
    reason: str
    answer: str
    messages: tuple[str, ...] = ()
    limits: Mapping[str, int] = field(default_factory=dict)
    requests: int = 1
    error_type: str = ""
    is_cut: bool = False
    question: str = CODE_QUESTION


OF_SIGNALS = {"stuck", "capability-gap", "delegation-recommended"}
"""Ends that 020 adds; the plain loop has them not."""
PIECES = ("a" * 3_999, "b" * 500, "c" * 500)

SCENARIOS = (
    Scenario("completed", lambda: [answers("It is so.")], "completed", "It is so."),
    Scenario(
        "completed-after-tools",
        lambda: [*searching(2), answers("Found.")],
        "completed",
        f"{steps(2)}\n\nFound.",
        requests=3,
    ),
    Scenario(
        "completed-in-the-last-turn",
        lambda: [*searching(2), answers("What there is.")],
        "completed",
        f"{steps(2)}\n\nWhat there is.",
        ("Approaching iteration limit (1/3). Consider wrapping up your response.",),
        {"max_iterations": 3},
        requests=3,
    ),
    Scenario(
        "max-iterations-10",
        lambda: searching(10),
        "max_iterations",
        f"{steps(10)}\n\nStopped: iteration limit reached (10/10).",
        (
            "Approaching iteration limit (7/10). Consider wrapping up your response.",
            "Maximum iterations reached (10/10). Saving partial response.",
        ),
        {"max_iterations": 10},
        requests=10,
    ),
    Scenario(
        "max-iterations-1",
        lambda: searching(1),
        "max_iterations",
        "Step 1.\n\nStopped: iteration limit reached (1/1).",
        ("Maximum iterations reached (1/1). Saving partial response.",),
        {"max_iterations": 1},
    ),
    Scenario(
        "max-iterations-asked-for-more",
        lambda: [says("Not yet." + NEED_TURN), says("Still not." + NEED_TURN)],
        "max_iterations",
        "Not yet.\n\nStill not.\n\nStopped: iteration limit reached (2/2).",
        (
            "Approaching iteration limit (1/2). Consider wrapping up your response.",
            "Maximum iterations reached (2/2). Saving partial response.",
        ),
        {"max_iterations": 2},
        requests=2,
    ),
    Scenario(
        "token-budget-with-warning",
        lambda: [
            says("One.", calls("search_code", query="RetryPolicy a1"), tokens=40_000),
            says("Two.", calls("search_code", query="RetryPolicy a2"), tokens=10_112),
        ],
        "token_budget",
        "One.\n\nTwo.\n\nStopped: token budget reached (50,112/50,000 tokens).",
        (
            "Approaching token budget (40,000/50,000 tokens). Consider being more concise.",
            "Token budget reached (50,112/50,000 tokens). Saving partial response.",
        ),
        {"token_budget": 50_000},
        requests=2,
    ),
    Scenario(
        "token-budget-in-mid-response",
        lambda: [hangs(says(PIECES))],
        "token_budget",
        f"{PIECES[0]}{PIECES[1]}\n\nStopped: token budget reached (1,165/1,000 tokens).",
        ("Token budget reached (1,165/1,000 tokens). Saving partial response.",),
        {"token_budget": 1_000},
        is_cut=True,
    ),
    Scenario(
        "token-budget-cut-the-response",
        lambda: [says("Half an ans", tokens=(40, 1_000), stop_reason="max_tokens")],
        "token_budget",
        "Half an ans\n\nStopped: token budget reached (1,040/1,000 tokens).",
        ("Token budget reached (1,040/1,000 tokens). Saving partial response.",),
        {"token_budget": 1_000},
    ),
    Scenario(
        "no-progress",
        lambda: [says(f"Try {at}.", AUTH) for at in range(1, 5)],
        "no_progress",
        "Try 1.\n\nTry 2.\n\nTry 3.\n\n"
        'Stopped: no progress - search_code({"query": "auth"}) brought the same result 3 times.',
        ("No progress detected - same action attempted 3 times.",),
        requests=3,
    ),
    Scenario(
        "no-progress-without-any-content",
        lambda: [says("", AUTH)] * 4,
        "no_progress",
        'Stopped: no progress - search_code({"query": "auth"}) brought the same result 3 times.',
        ("No progress detected - same action attempted 3 times.",),
        requests=3,
    ),
    Scenario(
        "error-limit",
        lambda: [says(f"Try {name}.", missing(name)) for name in "abcd"],
        "error_limit",
        "Try a.\n\nTry b.\n\nTry c.\n\nStopped: 3 tool errors in a row (last: ",
        ("Multiple consecutive tool errors (3/3). Saving partial response.",),
        requests=3,
    ),
    Scenario(
        "stuck",
        lambda: [says("I found nothing." + STUCK), says("Still nothing." + STUCK)],
        "stuck",
        "I found nothing.\n\nStill nothing.\n\nStopped: could not get further - the index is empty.",
        ("The agent is stuck. Trying another approach.", "The agent cannot get further with the tools it has."),
        requests=2,
    ),
    Scenario(
        "capability-gap",
        lambda: [
            says("It is 5 s." + signal_xml("need_capability", capability="access to the logs", reason="none here")),
        ],
        "completed",
        "It is 5 s.\n\nTo answer this fully I would need access to the logs, which is not available here.",
        ("The agent lacks a capability: access to the logs.",),
    ),
    Scenario(
        "delegation-recommended",
        lambda: [says("Too large." + signal_xml("delegation_recommended", reason="it touches 140 files", scope="all"))],
        "completed",
        "Too large.",
        ("The agent recommends handing this over: it touches 140 files",),
    ),
    Scenario(
        "error-refused-key",
        lambda: [HttpError("authentication_error", "invalid x-api-key")],
        "error",
        "Stopped: ",
        error_type="provider_auth",
    ),
    Scenario(
        "error-overloaded-in-mid-stream",
        lambda: [Disturbed(says("Half of the"), "error_event")],
        "error",
        "Half of the\n\nStopped: ",
        error_type="provider_overloaded",
    ),
    Scenario(
        "error-connection-lost",
        lambda: [Disturbed(says("Half of the"), "reset")],
        "error",
        "Half of the\n\nStopped: ",
        error_type="provider_failed",
    ),
    Scenario(
        "error-no-stop-reason",
        lambda: [Disturbed(says("Half of the"), "early_end")],
        "error",
        "Half of the\n\nStopped: ",
        error_type="provider_failed",
    ),
    Scenario(
        "error-refusal",
        lambda: [says("I must", stop_reason="refusal")],
        "error",
        "I must\n\nStopped: ",
        error_type="provider_refused",
    ),
    Scenario(
        "full-context-window",
        lambda: [says("Too", stop_reason="model_context_window_exceeded", tokens=50)],
        "token_budget",
        "Too\n\nStopped: token budget reached (50/50,000 tokens): the conversation fills the model's context window.",
        ("Token budget reached (50/50,000 tokens). Saving partial response.",),
    ),
    Scenario(
        "error-after-a-turn",
        lambda: [*searching(1), Disturbed(says("Second, half"), "early_end")],
        "error",
        "Step 1.\n\nSecond, half\n\nStopped: ",
        error_type="provider_failed",
        requests=2,
    ),
)
