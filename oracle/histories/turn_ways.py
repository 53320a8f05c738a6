"""Where two runs part by their turns: for a run that no tree drove, and that has no ticks to compare."""

from itertools import zip_longest
from typing import Any

from oracle.histories.differences import Parting
from oracle.histories.model import History, TurnFacts


def way_by_turns(old: History, new: History) -> Parting | None:
    """The first visible turn that calls other tools, or with other arguments; `None` if all do the same.

    Its tick is that of the run which has ticks, 0 if neither has any. Arguments that were deleted are not compared.
    """
    turns = zip_longest(*([turn for turn in each.turns if turn.visible] for each in (old, new)))
    for n, (was, now) in enumerate(turns, start=1):
        if was is None or now is None or _calls(old, was) != _calls(new, now):
            tick = (was.began_tick if was else 0) or (now.began_tick if now else 0)
            return Parting("effect", tick, old=_did(n, old, was), new=_did(n, new, now))
    return None


def _calls(history: History, turn: TurnFacts) -> list[tuple[str, Any]]:
    asked = set(turn.calls)
    made = [(call.name, call.arguments) for call in history.calls if call.id in asked and call.turn == turn.n]
    return [*made, *((name, None) for name in turn.server_tools)]


def _did(n: int, history: History, turn: TurnFacts | None) -> str:
    if turn is None:
        return "had ended"
    names = ", ".join(name for name, _ in _calls(history, turn))
    return f"turn {n} calls {names}" if names else f"turn {n} calls nothing"
