"""What the tool calls so far can still lead to, where only one more round of tools can run.

`no_progress` and `error_limit` compare the latest calls with those that follow. Before the last round it matters only
how each round that can follow would be judged; histories that are judged alike are one.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from oracle.decision import AgentConfig, AgentState, ToolAction, rules
from oracle.decision.state import RECENT_ACTIONS

Signature = tuple[tuple[bool, bool], ...]

_EMPTY = AgentState(user_id="local", config=AgentConfig())


def judgements(state: AgentState) -> Signature:
    """How the history would be judged after each round that can follow: (repeats itself, keeps failing)."""
    ranks = {turn: rank for rank, turn in enumerate(dict.fromkeys(action.turn for action in state.recent_actions))}
    names = {call: name for name, call in enumerate(dict.fromkeys(map(_call, state.recent_actions)))}
    ends = {end: name for name, end in enumerate(dict.fromkeys(map(_end, state.recent_actions)))}
    return _judgements(
        tuple(
            (names[_call(action)], ends[_end(action)], action.is_error, ranks[action.turn])
            for action in state.recent_actions
        ),
        len({action.tool for action in state.recent_actions}),
        min(state.error_streak, rules.ERROR_LIMIT),
        state.error_streak_until > state.error_streak_since,
    )


def _call(action: ToolAction) -> tuple[str, str]:
    return action.tool, action.arguments


def _end(action: ToolAction) -> tuple[bool, str | None]:
    return action.is_error, action.result_digest


@lru_cache(maxsize=4096)
def _judgements(actions: tuple[tuple[int, int, bool, int], ...], tools: int, streak: int, is_long: bool) -> Signature:  # noqa: FBT001
    """The judgements of one history, whose calls, results and turns are numbered."""
    history = tuple(
        ToolAction("tool" if tools == 1 else f"tool{call}", str(call), is_error, str(end), turn)
        for call, end, is_error, turn in actions
    )
    last = actions[-1][3] if actions else 0
    state = _EMPTY.changed(  # a state in the middle of a query
        turn=last + 1,
        recent_actions=history,
        error_streak=streak,
        error_streak_since=0 if is_long else last,
        error_streak_until=last,
    )
    return tuple(_judged(state, following) for following in _rounds(state))


def _judged(state: AgentState, actions: tuple[ToolAction, ...]) -> tuple[bool, bool]:
    for action in actions:
        state = state.after_tool_result(action)
    return rules.is_repeating_itself(state), rules.keeps_failing(state)


def _rounds(state: AgentState) -> Iterator[tuple[ToolAction, ...]]:
    """Rounds of one and two calls: each that was made before, and a new one, with each result and with a new one."""
    before = list(dict.fromkeys((action.tool, action.arguments) for action in state.recent_actions))
    results = list(dict.fromkeys((action.is_error, action.result_digest) for action in state.recent_actions))
    tool = before[0][0] if before else "tool"
    calls = [*before, (tool, "new"), (tool, "newer")]
    ends = [*results, (False, "new"), (True, "new"), (True, "newer")]
    single = [
        ToolAction(name, arguments, is_error, digest) for (name, arguments), (is_error, digest) in product(calls, ends)
    ]
    yield ()
    yield from ((action,) for action in single)
    if len(state.recent_actions) <= RECENT_ACTIONS // 3:
        yield from product(single, repeat=2)
