"""What the checker knows of the agent before a run: the values of its keys, and facts that its nodes change.

Facts, each with its possible values:

- `prompt`: whether the system prompt is composed (`no`, `yes`);
- `calls`: the tool calls of the last visible turn (`none`, `open`: without results, `done`, also after a halt);
- `called by`: the turn that has called tools last (a path);
- `unread`: the `run_tools` whose results no turn has read yet (a path, or empty);
- `granted`: the `grant_turn` on which no turn has followed yet (a path, or empty);
- `offered`: the `offer_all_reading_tools` of which no turn with tools has made use yet (a path, or empty);
- `noted`: the `set` of the note for the model that no turn has got yet (a path, or empty);
- `added`: the nodes that have offered further tools since the question was classified (paths, or empty);
- `answer`: whether there are words for the user (`no`, `yes`: there may be);
- `tools`: whether every reading tool is offered (`some`, `all`);
- `closed`: whether the stream has ended (`no`, `yes`);
- `... asked`: the limit that a guard has found unreached in this tick.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bt_runtime.analysis.effects import HERE, Case, EndStates, HostFlow, Transfer
from bt_runtime.analysis.states import Known, States
from bt_runtime.analysis.walk import Walk
from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.language.expressions.domains import Domain, Numbers, TextSet, of_value
from oracle.agent.nodes.board import AGENT_KEYS
from oracle.agent.nodes.roles import ASKS_MODEL, CLASSIFIES_RESPONSE, HOLDS_BACK_CALLS, JUDGES_CONTEXT, TRIES_STRATEGY

NONE, SOME = of_value(0), Domain(numbers=Numbers(1, whole=True))
_ASKED = ("turns asked", "tokens asked", "time asked", "progress asked", "errors asked", "cancel asked")
_NO_LIMIT = 1e9

_MOST_TURNS = 50
"""Of a query, whatever its user allows."""
_ONLY_WRITERS: Mapping[str, str] = {
    "sufficient": JUDGES_CONTEXT,
    "refused_calls": HOLDS_BACK_CALLS,
    "strategies_tried": TRIES_STRATEGY,
    "intent": CLASSIFIES_RESPONSE,
}
"""Keys that keep their default in a tree in which no kind has one role."""
_DEFAULTS = {key.name: of_value(key.default) for key in AGENT_KEYS}


def _known(tree: TreeDefinition) -> Known:
    """What holds in a whole tree: the number of its turns, and keys that no node of it changes."""
    roles = {role for node in tree.root.walk() for role in node.facts.roles}
    bounds = {key: _DEFAULTS[key] for key, role in _ONLY_WRITERS.items() if role not in roles}
    if any(_turns_side_by_side(node) for node in tree.root.walk()):
        return Known(bounds)
    own = tree.keys["max_turns"].default if "max_turns" in tree.keys else None
    most = max(1, min(own, _MOST_TURNS)) if isinstance(own, int) else _MOST_TURNS
    bounds["turn"] = Domain(numbers=Numbers(0, most, whole=True))
    bounds["turn_limit"] = Domain(numbers=Numbers(1, most, whole=True))
    return Known(bounds, frozenset({("turn", "turn_limit")}))


def _turns_side_by_side(node: NodeDefinition) -> bool:
    """Whether turns can end together, so that there is one more than the limit."""
    if node.kind != "parallel":
        return False
    children = node.children["children"]
    return sum(any(below.has(ASKS_MODEL) for below in child.walk()) for child in children) > 1


AGENT_FLOW = HostFlow(
    declared={
        "question": Domain(texts=TextSet(filled=True)),
        "turn_limit": SOME,
        "token_budget": SOME,
        "seconds_left": Domain(numbers=Numbers(0, whole=True)),
    },
    given=frozenset({"question", "turn_limit", "token_budget", "seconds_left"}),
    volatile=frozenset({"cancel_requested"}),
    volatile_facts=frozenset(_ASKED),
    facts={
        "prompt": "no",
        "calls": "none",
        "unread": "",
        "called by": "",
        "granted": "",
        "noted": "",
        "offered": "",
        "added": "",
        "answer": "no",
        "tools": "some",
        "closed": "no",
        **{name: "0" for name in _ASKED if name != "cancel asked"},
    },
    apart=("prompt", "calls", "answer", "closed"),
    marks={"hint": "noted"},
    known=_known,
)

LAGGING: Mapping[str, None] = dict.fromkeys(
    (
        *("turn_left", "sources", "tools_tried", "turn_limit", "groups_tried", "groups_found", "dry_turns"),
        *("refused_calls", "untried_tools", "failed_tools", "empty_searches"),
        *("repetitions", "errors_in_a_row", "calls_since_strategy"),
        *("pending_calls", "pending_writes", "seconds_left"),
    )
)
"""Keys that another node than the one that has changed them may publish."""

_NOT_OF_TURNS = frozenset(
    {"question", "query_type", "max_turns", "token_budget", "hint", "sufficient", "strategies_tried"}
)
OF_TURNS: Mapping[str, None] = dict.fromkeys(key.name for key in AGENT_KEYS if key.name not in _NOT_OF_TURNS)
"""The keys that a turn of the model may change."""


def guard(
    fact: str, limit: Callable[[Any], float | None] = lambda _settings: None, *, counter: str | None = None
) -> Transfer:
    """The flow of a guard: it cannot trip where one with the same limit, or a lower one, has passed in the same tick.

    Args:
        fact: the fact that says which limit was found unreached.
        limit: its own limit, given its settings; `None`: the user's.
        counter: the key that is below the limit where the guard has passed.
    """

    def flow(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
        own = limit(node.settings)
        mine = _NO_LIMIT if own is None else own
        below: dict[str, Domain] = {}
        if counter is not None and own is not None:
            below[counter] = Domain(numbers=Numbers(0, own - 1, whole=True))
        passes = Case("success", writes=LAGGING, facts={fact: repr(mine)}, when=below)
        trips = Case("failure", writes=LAGGING, facts={fact: None}, stops=True)
        found = [walk.ends(node, (state,), _cases(state.facts.get(fact), mine, passes, trips)) for state in states]
        return EndStates(*(walk.partition.merged(state for ends in found for state in ends[at]) for at in range(3)))

    return flow


def _cases(asked: frozenset[str] | None, mine: float, passes: Case, trips: Case) -> Sequence[Case]:
    is_unreached = asked is not None and all(float(value) <= mine for value in asked)
    return (passes,) if is_unreached else (passes, trips)


# --- leaves of several cases

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


_OF_CALLS: Mapping[str, Domain] = {
    "tool_calls": SOME,
    "asks_user": of_value(value=False),
    "empty_turns": NONE,
    "announcements": NONE,
}
"""What is known after a turn that has called tools."""
_ONE_TURN = {"turn": 1}
_TAKEN = {"granted": "", "noted": ""}


def turn_cases(settings: Any) -> Sequence[Case]:  # noqa: ANN401  the settings of `llm_turn`, which imports this module
    """The cases of `llm_turn`."""
    after: dict[str, Domain | None] = {**OF_TURNS, "hint": None, "intent": of_value("")}
    if settings.into is not None:
        after[settings.into] = None
    if not settings.visible:
        beside = {key: domain for key, domain in after.items() if key != "tool_calls"}
        good = {**_but(beside, "turn"), "hint": of_value(""), "failed": of_value(value=False)}
        return (
            Case("success", writes=good, adds=_ONE_TURN, facts=_TAKEN),
            Case("failure", writes=beside, facts=_TAKEN, fault=True),
            Case("waiting", writes=beside, facts=_TAKEN),
        )
    good = {**_but(after, "turn"), "hint": of_value(""), "failed": of_value(value=False)}
    taken = {**_TAKEN, "offered": ""} if settings.tools else _TAKEN
    said = {**taken, "calls": "none", "unread": "", "answer": "yes"}
    called = {**said, "calls": "open", "called by": HERE}
    unclear = {**taken, "calls": "done", "unread": "", "answer": "yes"}
    cases = [Case("success", writes={**good, "tool_calls": NONE}, adds=_ONE_TURN, facts=said)]
    if settings.tools:
        cases.append(Case("success", writes={**good, **_OF_CALLS}, adds=_ONE_TURN, facts=called))
    return (
        *cases,
        Case("failure", writes=after, facts=unclear, fault=True),
        Case("waiting", writes=after, facts=unclear),
    )


def _but(writes: Mapping[str, Domain | None], key: str) -> dict[str, Domain | None]:
    return {name: domain for name, domain in writes.items() if name != key}
