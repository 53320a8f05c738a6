"""What the checker knows of the agent before a run, and what it judges of its trees.

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

from collections.abc import Mapping
from functools import partial

from bt_runtime.analysis import transfers
from bt_runtime.analysis.expressions.domains import Domain, Numbers, TextSet, of_value
from bt_runtime.analysis.host import HostChecks
from bt_runtime.analysis.states import Known
from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from oracle.agent.nodes.board import AGENT_KEYS
from oracle.agent.nodes.flows import LAGGING
from oracle.agent.nodes.roles import ASKS_MODEL, CLASSIFIES_RESPONSE, HOLDS_BACK_CALLS, JUDGES_CONTEXT, TRIES_STRATEGY
from oracle.authoring.checks import caching, endings, limits, people, rounds, turns

_MODULES = (turns, endings, limits, rounds, caching, people)
_ASKED = ("turns asked", "tokens asked", "time asked", "progress asked", "errors asked", "cancel asked")

_MOST_TURNS = 50
"""Of a query, whatever its user allows."""
_ONLY_WRITERS: Mapping[str, str] = {
    "sufficient": JUDGES_CONTEXT,
    "refused_calls": HOLDS_BACK_CALLS,
    "strategies_tried": TRIES_STRATEGY,
    "intent": CLASSIFIES_RESPONSE,
}
"""Keys that keep their default in a tree in which no kind has one role."""
_SOME = Domain(numbers=Numbers(1, whole=True))
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


HOST = HostChecks(
    declared={
        "question": Domain(texts=TextSet(filled=True)),
        "turn_limit": _SOME,
        "token_budget": _SOME,
        "seconds_left": Domain(numbers=Numbers(0, whole=True)),
        "time_limit": Domain(numbers=Numbers(0)),
    },
    given=frozenset({"question", "turn_limit", "token_budget", "seconds_left", "time_limit"}),
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
    transfers={"approve": people.approve, "action": partial(transfers.action, changes=LAGGING)},
    judges=tuple(module.judge for module in _MODULES),
    codes=tuple(code for module in _MODULES for code in module.CODES),
)
