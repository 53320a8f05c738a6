"""The public names of the runtime, which `bt_runtime` loads on first use."""

from bt_runtime.blackboard import Blackboard
from bt_runtime.builder import LiveTree, build
from bt_runtime.clock import Clock, PausableClock, SystemClock
from bt_runtime.context import Host, Request, RunContext, working_node
from bt_runtime.definition import NodeDefinition, TreeDefinition
from bt_runtime.differences import Change, Difference, difference
from bt_runtime.errors import (
    BlackboardError,
    BTError,
    ExpressionError,
    HotLoopError,
    KindError,
    RunError,
    StalledError,
    TreeError,
    TreeFileError,
    TreeNotFoundError,
)
from bt_runtime.explanation import Clause, Evaluation, Figure, Operand, Stepped, Words, Write
from bt_runtime.kind import (
    ActionUse,
    CallUse,
    DeliveryUse,
    ExpressionUse,
    Facts,
    HostAction,
    Key,
    KeyUse,
    Kind,
    NodeSettings,
    Slot,
    TreeUse,
    Use,
)
from bt_runtime.kinds import BUILTIN_KEYS, BUILTIN_KINDS
from bt_runtime.library import TreeLibrary
from bt_runtime.nodes import Action, Condition, Decorator, Guard, Node
from bt_runtime.recording import (
    CauseKind,
    ForcedResult,
    Journal,
    NodeError,
    Observer,
    Outcome,
    Recording,
    TickRecord,
    forced_path,
)
from bt_runtime.registration import NoSettings, action_kind, condition_kind, node
from bt_runtime.registry import Registry
from bt_runtime.reloading import ReloadingTrees, TreeState
from bt_runtime.rendering import render
from bt_runtime.replaying import Replay, Replaying, Retrace, Retraced, did_the_same, event_ticks, replay
from bt_runtime.rule import Event, EventPattern, EventType, Rule
from bt_runtime.rules import Monitor, Monitors
from bt_runtime.run_loop import RunLoop, run
from bt_runtime.schema import tree_schema
from bt_runtime.standard import STANDARD, load
from bt_runtime.status import Status
from bt_runtime.stepper import Pacer, RunResult, Standing, Stepper, Supervisor
from bt_runtime.text import Edit, Fix, Mistake, Place, format_mistakes
from bt_runtime.tracing import Trace, Visit, deciding, path_to
from bt_runtime.visiting import Visiting

__all__ = [
    "BUILTIN_KEYS",
    "BUILTIN_KINDS",
    "STANDARD",
    "Action",
    "ActionUse",
    "BTError",
    "Blackboard",
    "BlackboardError",
    "CallUse",
    "CauseKind",
    "Change",
    "Clause",
    "Clock",
    "Condition",
    "Decorator",
    "DeliveryUse",
    "Difference",
    "Edit",
    "Evaluation",
    "Event",
    "EventPattern",
    "EventType",
    "ExpressionError",
    "ExpressionUse",
    "Facts",
    "Figure",
    "Fix",
    "ForcedResult",
    "Guard",
    "Host",
    "HostAction",
    "HotLoopError",
    "Journal",
    "Key",
    "KeyUse",
    "Kind",
    "KindError",
    "LiveTree",
    "Mistake",
    "Monitor",
    "Monitors",
    "NoSettings",
    "Node",
    "NodeDefinition",
    "NodeError",
    "NodeSettings",
    "Observer",
    "Operand",
    "Outcome",
    "Pacer",
    "PausableClock",
    "Place",
    "Recording",
    "Registry",
    "ReloadingTrees",
    "Replay",
    "Replaying",
    "Request",
    "Retrace",
    "Retraced",
    "Rule",
    "RunContext",
    "RunError",
    "RunLoop",
    "RunResult",
    "Slot",
    "StalledError",
    "Standing",
    "Status",
    "Stepped",
    "Stepper",
    "Supervisor",
    "SystemClock",
    "TickRecord",
    "Trace",
    "TreeDefinition",
    "TreeError",
    "TreeFileError",
    "TreeLibrary",
    "TreeNotFoundError",
    "TreeState",
    "TreeUse",
    "Use",
    "Visit",
    "Visiting",
    "Words",
    "Write",
    "action_kind",
    "build",
    "condition_kind",
    "deciding",
    "did_the_same",
    "difference",
    "event_ticks",
    "forced_path",
    "format_mistakes",
    "load",
    "node",
    "path_to",
    "render",
    "replay",
    "run",
    "tree_schema",
    "working_node",
]
