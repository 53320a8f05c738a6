"""What a scenario can state about its end, by name; only what is stated is compared."""

from collections.abc import Mapping
from typing import Final, get_args

from oracle.chunks import Severity
from oracle.scenarios.differences import Expectation
from oracle.scenarios.model import Json
from oracle.scenarios.played import Played
from oracle.scenarios.stated_nodes import Board, NotVisited, Outcomes, Visited
from oracle.scenarios.stated_requests import Requests
from oracle.scenarios.stated_values import Equal, Listed, Moments


def _notices(played: Played) -> list[tuple[str, Json]]:
    return [(each.system_type, each.system_message) for each in played.answer.notices]


def _severities(played: Played) -> list[tuple[str, Json]]:
    return [(each.severity, "") for each in played.answer.notices]


def _errors(played: Played) -> list[tuple[str, Json]]:
    return [next(iter(value.items())) for kind, value in played.moments if kind == "error"]


def _signals(played: Played) -> list[tuple[str, Json]]:
    return [
        ((each.type or "none") if each.outcome in ("accepted", "ignored") else _named(each.outcome), each.action)
        for each in played.signals
    ]


def _named(outcome: str) -> str:
    return "none" if outcome == "absent" else outcome


def _results(played: Played) -> list[tuple[str, Json]]:
    """In the order of the calls, whichever of those that ran side by side ended first."""
    answer = played.answer
    calls = [call for call in answer.calls.values() if call.id in answer.results]
    return [(call.name, answer.results[call.id].tool_result) for call in calls]


EXPECTATIONS: Final[Mapping[str, Expectation]] = {
    "reason": Equal("reason", lambda played: played.done.termination_reason if played.done else ""),
    "turns": Equal("turns", lambda played: played.done.turns if played.done else 0, int),
    "asked": Equal("asked", lambda played: len(played.requests), int),
    "tokens": Equal("tokens", lambda played: played.done.tokens_used if played.done else 0, int),
    "elapsed_s": Equal("elapsed_s", lambda played: round(played.elapsed_s, 3), (int, float)),
    "answer": Equal("answer", lambda played: played.answer.text),
    "thinking": Equal("thinking", lambda played: "".join(v for k, v in played.moments if k == "thinking")),
    "notices": Listed("notices", _notices),
    "severities": Listed("severities", _severities, get_args(Severity)),
    "errors": Listed("errors", _errors),
    "signals": Listed("signals", _signals),
    "calls_run": Listed("calls_run", lambda played: played.tool_runs, is_text=False),
    "results": Listed("results", _results),
    "chunks": Moments(),
    "requests": Requests(),
    "visited": Visited(),
    "not_visited": NotVisited(),
    "outcomes": Outcomes(),
    "blackboard": Board(),
}
"""What can be stated, by name."""
