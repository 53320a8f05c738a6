"""Histories of runs: what happened in each, tick by tick, and why.

    history = await read_history(archive, await archive.find("a1b2"), registry=registry)
    for tick in history.ticks:
        print(tick.headline)

`model` is the data; `explaining` makes it from the events of a log, also while the run is under way, by repeating the
run on its own version of the tree; `nodes` finds the places of nodes and expressions; `codec` is its JSON, `foreign`
judges that of others; `diffs` says where two runs part; `supposing` makes the history that a run would have had on
another tree, `answers` says what one of its conditions would have answered. A service explains runs while they are
read: `passes` goes through a log, `sharing` shares that among its readers, `encoding` makes the JSON of each tick once.
"""

from typing import TYPE_CHECKING

from oracle.core.loading import lazy_door

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from oracle.replay.histories.answers import (
        ConditionAnswer,
        NothingRecordedError,
        Replayed,
        queries_of,
        replay_query,
    )
    from oracle.replay.histories.codec import history_from_json, history_to_json
    from oracle.replay.histories.differences import HistoryDifference
    from oracle.replay.histories.diffs import diff_histories
    from oracle.replay.histories.encoding import ExplainedTick
    from oracle.replay.histories.explaining import Explainer
    from oracle.replay.histories.foreign import DamagedHistoryError
    from oracle.replay.histories.model import History
    from oracle.replay.histories.passes import FallenBehindError, Pass
    from oracle.replay.histories.reading import read_history
    from oracle.replay.histories.sharing import Passes, TooManyPassesError
    from oracle.replay.histories.supposing import supposed_history

__all__ = [
    "ConditionAnswer",
    "DamagedHistoryError",
    "ExplainedTick",
    "Explainer",
    "FallenBehindError",
    "History",
    "HistoryDifference",
    "NothingRecordedError",
    "Pass",
    "Passes",
    "Replayed",
    "TooManyPassesError",
    "diff_histories",
    "history_from_json",
    "history_to_json",
    "queries_of",
    "read_history",
    "replay_query",
    "supposed_history",
]

__getattr__ = lazy_door(
    __name__,
    {
        "oracle.replay.histories.answers": "ConditionAnswer NothingRecordedError Replayed queries_of replay_query",
        "oracle.replay.histories.codec": "history_from_json history_to_json",
        "oracle.replay.histories.differences": "HistoryDifference",
        "oracle.replay.histories.diffs": "diff_histories",
        "oracle.replay.histories.encoding": "ExplainedTick",
        "oracle.replay.histories.explaining": "Explainer",
        "oracle.replay.histories.foreign": "DamagedHistoryError",
        "oracle.replay.histories.model": "History",
        "oracle.replay.histories.passes": "FallenBehindError Pass",
        "oracle.replay.histories.reading": "read_history",
        "oracle.replay.histories.sharing": "Passes TooManyPassesError",
        "oracle.replay.histories.supposing": "supposed_history",
    },
)
