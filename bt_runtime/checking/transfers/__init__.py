"""How the kinds of the runtime pass states on to their children; a kind names its function as its `flow`."""

from bt_runtime.checking.transfers.choices import if_, switch
from bt_runtime.checking.transfers.composites import decided_by, in_order, parallel
from bt_runtime.checking.transfers.decorators import (
    cooldown,
    finally_,
    forced,
    inverter,
    on_halt,
    once,
    subtree,
    timeout,
)
from bt_runtime.checking.transfers.joining import both, child_of, go_on, merged, merged_onto, note_until
from bt_runtime.checking.transfers.leaves import WAITING, action, condition, set_, wait
from bt_runtime.checking.transfers.repeating import for_each, guarded, loop, repeat, retry

__all__ = [
    "WAITING",
    "action",
    "both",
    "child_of",
    "condition",
    "cooldown",
    "decided_by",
    "finally_",
    "for_each",
    "forced",
    "go_on",
    "guarded",
    "if_",
    "in_order",
    "inverter",
    "loop",
    "merged",
    "merged_onto",
    "note_until",
    "on_halt",
    "once",
    "parallel",
    "repeat",
    "retry",
    "set_",
    "subtree",
    "switch",
    "timeout",
    "wait",
]
