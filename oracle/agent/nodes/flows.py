"""How the nodes of the agent end and what they change, where several kinds share it or it has several cases.

The facts are those of `oracle.authoring.checks.host`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bt_runtime.language.kind import HERE, Case, Key, Possible
from oracle.agent.nodes.board import AGENT_KEYS

LAGGING: Mapping[str, None] = dict.fromkeys(
    (
        *("turn_left", "sources", "tools_tried", "turn_limit", "groups_tried", "groups_found", "dry_turns"),
        *("refused_calls", "untried_tools", "failed_tools", "empty_searches", "may_be_supplied"),
        *("repetitions", "errors_in_a_row", "calls_since_strategy"),
        *("pending_calls", "pending_writes", "refused_by_people", "seconds_left", "time_limit"),
    )
)
"""Keys that another node than the one that has changed them may publish."""

_NOT_OF_TURNS = frozenset(
    {"question", "query_type", "max_turns", "token_budget", "hint", "sufficient", "strategies_tried"}
)
OF_TURNS: Mapping[str, None] = dict.fromkeys(key.name for key in AGENT_KEYS if key.name not in _NOT_OF_TURNS)
"""The keys that a turn of the model may change."""

_OPEN = {"calls": frozenset({"open"})}
_NOT_OPEN = {"calls": frozenset({"none", "done"})}

ANSWERING_CALLS = (
    Case("success", writes=LAGGING, facts={"calls": "done"}, when_facts=_OPEN),
    Case("success", writes=LAGGING, when_facts=_NOT_OPEN),
)
"""Of a node that gives open calls a result without running them."""
GRANTING = tuple(replace(case, facts={**case.facts, "granted": HERE}) for case in ANSWERING_CALLS)
"""Of `grant_turn`."""

_OF_TOOLS = {**LAGGING, "nothing_found": None}
RUNNING_CALLS = (
    Case("success", writes=_OF_TOOLS, facts={"calls": "done", "unread": HERE}, when_facts=_OPEN),
    Case("success", writes=_OF_TOOLS, when_facts=_NOT_OPEN),
    Case("waiting", writes=_OF_TOOLS, facts={"calls": "done"}),
)
"""Of `run_tools`."""


_OF_CALLS: Mapping[str, Possible] = {
    "tool_calls": Key("tool_calls", "int", 1, least=1),
    "asks_user": (False,),
    "empty_turns": (0,),
    "announcements": (0,),
}
"""What is known after a turn that has called tools."""
_ONE_TURN = {"turn": 1}
_TAKEN = {"granted": "", "noted": ""}


def turn_cases(settings: Any) -> Sequence[Case]:  # noqa: ANN401  the settings of `llm_turn`, which imports this module
    """The cases of `llm_turn`."""
    after: dict[str, Possible] = {**OF_TURNS, "hint": None, "intent": ("",)}
    if settings.into is not None:
        after[settings.into] = None
    if not settings.visible:
        beside = {key: values for key, values in after.items() if key != "tool_calls"}
        good = {**_but(beside, "turn"), "hint": ("",), "failed": (False,), "model_fault": ("",)}
        return (
            Case("success", writes=good, adds=_ONE_TURN, facts=_TAKEN),
            Case("failure", writes=beside, facts=_TAKEN, fault=True),
            Case("waiting", writes=beside, facts=_TAKEN),
        )
    good = {**_but(after, "turn"), "hint": ("",), "failed": (False,), "model_fault": ("",)}
    taken = {**_TAKEN, "offered": ""} if settings.tools else _TAKEN
    said = {**taken, "calls": "none", "unread": "", "answer": "yes"}
    called = {**said, "calls": "open", "called by": HERE}
    unclear = {**taken, "calls": "done", "unread": "", "answer": "yes"}
    cases = [Case("success", writes={**good, "tool_calls": (0,)}, adds=_ONE_TURN, facts=said)]
    if settings.tools:
        cases.append(Case("success", writes={**good, **_OF_CALLS}, adds=_ONE_TURN, facts=called))
    return (
        *cases,
        Case("failure", writes=after, facts=unclear, fault=True),
        Case("waiting", writes=after, facts=unclear),
    )


def _but(writes: Mapping[str, Possible], key: str) -> dict[str, Possible]:
    return {name: values for name, values in writes.items() if name != key}
