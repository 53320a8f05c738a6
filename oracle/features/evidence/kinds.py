"""The node kind, which is imported when a tree names it, and the blackboard key that it writes."""

from typing import Final

from bt_runtime import Key
from bt_runtime.language.registry import KindPlace

UNMATCHED: Final = "unmatched_claims"
KINDS: Final = (
    KindPlace("check_evidence", "oracle.features.evidence.checking"),
    Key(
        UNMATCHED,
        "list",
        (),
        "The statements of the answer that check_evidence did not find in what the run did and read.",
        read_only=True,
    ),
)
