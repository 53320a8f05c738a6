"""What trees have of spending: where the guard is, and the blackboard keys that say how near a limit is."""

from typing import Final

from bt_runtime import Key
from bt_runtime.language.registry import KindPlace

SPEND_STATE: Final = "spend_state"
QUERY_COST: Final = "query_cost"
STATES: Final = ("ok", "near", "over")

KINDS: Final = (
    KindPlace("spend_budget", "oracle.features.spending.guard"),
    Key(
        SPEND_STATE,
        "str",
        "ok",
        "How near the user's limits of spending are: `ok`, `near` from the soft one on, `over`.",
        values=STATES,
        read_only=True,
        deliverable=True,
    ),
    Key(
        QUERY_COST,
        "float",
        None,
        "What the run has cost, if the tree asks for it and prices are known; else null.",
        least=0,
        read_only=True,
        deliverable=True,
    ),
)
"""The kind, and the keys, by which trees react to what is spent."""
