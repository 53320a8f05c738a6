"""The node kinds that every tree has, one file each; a new kind is a new file and a line in this list."""

from bt_runtime.kind import Key, Kind
from bt_runtime.kinds.action import CallAction
from bt_runtime.kinds.condition import ExpressionCondition
from bt_runtime.kinds.cooldown import Cooldown
from bt_runtime.kinds.finally_ import Finally
from bt_runtime.kinds.for_each import ForEach
from bt_runtime.kinds.force import ForceFailure, ForceSuccess
from bt_runtime.kinds.guarded import Guarded
from bt_runtime.kinds.if_ import If
from bt_runtime.kinds.inverter import Inverter
from bt_runtime.kinds.loop import Loop
from bt_runtime.kinds.notify import Notify
from bt_runtime.kinds.on_halt import OnHalt
from bt_runtime.kinds.once import Once
from bt_runtime.kinds.parallel import Parallel
from bt_runtime.kinds.py_trees import PyTrees
from bt_runtime.kinds.repeat import Repeat
from bt_runtime.kinds.retry import Retry
from bt_runtime.kinds.selector import Selector
from bt_runtime.kinds.sequence import Sequence
from bt_runtime.kinds.set import Set
from bt_runtime.kinds.subtree import Subtree
from bt_runtime.kinds.switch import Switch
from bt_runtime.kinds.timeout import Timeout
from bt_runtime.kinds.wait import Wait

BUILTIN_KINDS: tuple[Kind, ...] = (
    Sequence.kind,
    Selector.kind,
    Parallel.kind,
    If.kind,
    Switch.kind,
    Inverter.kind,
    ForceSuccess.kind,
    ForceFailure.kind,
    Retry.kind,
    Repeat.kind,
    ForEach.kind,
    Loop.kind,
    Guarded.kind,
    Timeout.kind,
    Cooldown.kind,
    Once.kind,
    Finally.kind,
    OnHalt.kind,
    Subtree.kind,
    ExpressionCondition.kind,
    Set.kind,
    CallAction.kind,
    Notify.kind,
    Wait.kind,
    PyTrees.kind,
)

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
