"""The node kinds of the agent's trees, one file each, and the registry that a tree is read with."""

from dataclasses import replace
from typing import get_args

from bt_runtime import BUILTIN_KEYS, BUILTIN_KINDS, Kind, Registry
from bt_runtime.nodes.registration import kinds_of
from oracle.agent.nodes.board import AGENT_KEYS, demanded, values_of
from oracle.agent.nodes.host import AgentHost
from oracle.agent.nodes.notify import AGENT_NOTIFY
from oracle.agent.nodes.rules import RULES
from oracle.agent.rules.vocabulary import AGENT_EVENTS
from oracle.core.chunks import TerminationReason

AGENT_KINDS: tuple[Kind, ...] = kinds_of(
    __name__,
    (
        *("guards.cancelled", "guards.turn_budget", "guards.token_budget", "guards.deadline"),
        *("guards.no_progress", "guards.error_limit"),
        *("classify_query", "compose_prompt", "offer_all_reading_tools", "offer_tools", "withhold_tools"),
        *("warn_near_limits", "llm_turn", "run_tools", "refuse_tools", "hold_back_calls", "judge_context", "note"),
        *("ask_user", "approve"),
        *("require_answer", "grant_turn", "try_strategy", "classify_response", "say", "stop", "explain_stop", "finish"),
    ),
)
"""In the order of the palette. A new kind is a new file, and its name here."""

_SHARED_KINDS = tuple(AGENT_NOTIFY if kind.name == AGENT_NOTIFY.name else kind for kind in BUILTIN_KINDS)

_REASONS = ("", *get_args(TerminationReason))
_SHARED_KEYS = tuple(replace(key, values=_REASONS) if key.name == "termination_reason" else key for key in BUILTIN_KEYS)

REGISTRY = Registry(
    (*_SHARED_KINDS, *AGENT_KINDS),
    (*_SHARED_KEYS, *AGENT_KEYS),
    rules=RULES,
    events=AGENT_EVENTS,
    checks="oracle.authoring.checks.host",
)

__all__ = ["AGENT_KEYS", "AGENT_KINDS", "REGISTRY", "AgentHost", "demanded", "values_of"]
