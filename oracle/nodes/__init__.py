"""The node kinds of the agent's trees; a new kind is a new file and a line in this list."""

from dataclasses import replace
from typing import get_args

from bt_runtime import BUILTIN_KEYS, BUILTIN_KINDS, Kind, Registry
from oracle.chunks import TerminationReason
from oracle.nodes.board import AGENT_KEYS, demanded, values_of
from oracle.nodes.checks import CODES, JUDGES
from oracle.nodes.classify_query import ClassifyQuery
from oracle.nodes.classify_response import ClassifyResponse
from oracle.nodes.compose_prompt import ComposePrompt
from oracle.nodes.explain_stop import ExplainStop
from oracle.nodes.finish import Finish
from oracle.nodes.flows import AGENT_FLOW
from oracle.nodes.grant_turn import GrantTurn
from oracle.nodes.guards.cancelled import Cancelled
from oracle.nodes.guards.deadline import Deadline
from oracle.nodes.guards.error_limit import ErrorLimit
from oracle.nodes.guards.no_progress import NoProgress
from oracle.nodes.guards.token_budget import TokenBudget
from oracle.nodes.guards.turn_budget import TurnBudget
from oracle.nodes.hold_back_calls import HoldBackCalls
from oracle.nodes.host import AgentHost
from oracle.nodes.judge_context import JudgeContext
from oracle.nodes.llm_turn import LlmTurn
from oracle.nodes.note import Note
from oracle.nodes.notify import AGENT_NOTIFY
from oracle.nodes.offer_all_reading_tools import OfferAllReadingTools
from oracle.nodes.offer_tools import OfferTools
from oracle.nodes.refuse_tools import RefuseTools
from oracle.nodes.require_answer import RequireAnswer
from oracle.nodes.rules import RULES
from oracle.nodes.run_tools import RunTools
from oracle.nodes.say import Say
from oracle.nodes.stop import Stop
from oracle.nodes.try_strategy import TryStrategy
from oracle.nodes.warn_near_limits import WarnNearLimits
from oracle.nodes.withhold_tools import WithholdTools
from oracle.rules import AGENT_EVENTS

AGENT_KINDS: tuple[Kind, ...] = (
    Cancelled.kind,
    TurnBudget.kind,
    TokenBudget.kind,
    Deadline.kind,
    NoProgress.kind,
    ErrorLimit.kind,
    ClassifyQuery.kind,
    ComposePrompt.kind,
    OfferAllReadingTools.kind,
    OfferTools.kind,
    WithholdTools.kind,
    WarnNearLimits.kind,
    LlmTurn.kind,
    RunTools.kind,
    RefuseTools.kind,
    HoldBackCalls.kind,
    JudgeContext.kind,
    Note.kind,
    RequireAnswer.kind,
    GrantTurn.kind,
    TryStrategy.kind,
    ClassifyResponse.kind,
    Say.kind,
    Stop.kind,
    ExplainStop.kind,
    Finish.kind,
)

_SHARED_KINDS = tuple(AGENT_NOTIFY if kind.name == AGENT_NOTIFY.name else kind for kind in BUILTIN_KINDS)

_REASONS = ("", *get_args(TerminationReason))
_SHARED_KEYS = tuple(replace(key, values=_REASONS) if key.name == "termination_reason" else key for key in BUILTIN_KEYS)

REGISTRY = Registry(
    (*_SHARED_KINDS, *AGENT_KINDS),
    (*_SHARED_KEYS, *AGENT_KEYS),
    rules=RULES,
    events=AGENT_EVENTS,
    flow=AGENT_FLOW,
    checks=JUDGES,
    codes=CODES,
)

__all__ = ["AGENT_KEYS", "AGENT_KINDS", "REGISTRY", "AgentHost", "demanded", "values_of"]
