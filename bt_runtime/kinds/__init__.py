"""The node kinds of the runtime, one file each, and the blackboard keys that they need."""

from bt_runtime.language.kind import Key, Kind
from bt_runtime.nodes.registration import kinds_of

BUILTIN_KINDS: tuple[Kind, ...] = kinds_of(
    __name__,
    (
        *("sequence", "selector", "parallel", "if_", "switch"),
        *("inverter", "force", "retry", "repeat", "for_each", "loop", "guarded", "timeout", "cooldown", "once"),
        *("finally_", "on_halt", "subtree"),
        *("condition", "set", "action", "notify", "wait", "py_trees"),
    ),
)
"""In the order of the palette. A new kind is a new file, and its name here."""

BUILTIN_KEYS: tuple[Key, ...] = (
    Key(
        "termination_reason",
        "str",
        "",
        "Why the run stops; the first reason counts. Empty while it continues.",
        read_only=True,
    ),
    Key(
        "cancel_requested",
        "bool",
        default=False,
        description="A cancel was requested.",
        read_only=True,
        deliverable=True,
    ),
)
