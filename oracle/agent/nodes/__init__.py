"""The node kinds of the agent's trees, by subject, and the registry that a tree is read with."""

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

from bt_runtime import BUILTIN_KEYS, Registry
from bt_runtime.kinds import KIND_PLACES
from bt_runtime.language.registry import KindPlace, kind_places, load_kinds
from oracle.agent.nodes.base import AgentHost
from oracle.agent.nodes.board import AGENT_KEYS, demanded, query_type_key, values_of
from oracle.agent.nodes.events import AGENT_EVENTS
from oracle.agent.nodes.tree_checks import TREE_CHECKS
from oracle.core.chunks import TerminationReason
from oracle.core.sources import QueryTypes

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from bt_runtime import Kind

    AGENT_KINDS: tuple[Kind, ...]

_PLACES = kind_places(
    __name__,
    [
        ("guards", "cancelled turn_budget token_budget deadline no_progress error_limit"),
        ("classifying", "classify_query"),
        ("preparing", "compose_prompt offer_all_reading_tools offer_tools withhold_tools warn_near_limits"),
        ("llm_turn", "llm_turn"),
        ("tool_calls", "run_tools refuse_tools hold_back_calls"),
        ("classifying", "judge_context"),
        ("preparing", "note"),
        ("people", "ask_user approve"),
        ("granting", "require_answer grant_turn try_strategy"),
        ("classifying", "classify_response"),
        ("endings", "say stop explain_stop finish"),
    ],
)
"""In the order of the palette. A new kind is a class in a module here, and its name in this list."""

_OWN = {"notify": "endings", "action": "tool_calls"}
"""Kinds of every tree that have more here, and their modules."""
_SHARED = tuple(
    KindPlace(place.name, f"{__name__}.{_OWN[place.name]}") if place.name in _OWN else place for place in KIND_PLACES
)

_REASONS = ("", *get_args(TerminationReason))
_SHARED_KEYS = tuple(replace(key, values=_REASONS) if key.name == "termination_reason" else key for key in BUILTIN_KEYS)

REGISTRY = Registry(
    (*_SHARED, *_PLACES),
    (*_SHARED_KEYS, *AGENT_KEYS),
    rules=TREE_CHECKS,
    events=AGENT_EVENTS,
    checks="oracle.authoring.checks.host",
)

__all__ = ["AGENT_KEYS", "AGENT_KINDS", "REGISTRY", "AgentHost", "demanded", "registry_for", "values_of"]


def registry_for(types: QueryTypes, host: object) -> Registry:
    """The registry of trees in a domain with these types of queries; it keeps `host`."""
    kind = REGISTRY.kind("classify_query")
    flow = import_module(f"{__name__}.classifying").flow_of(types)
    return REGISTRY.of_host(host, kind=replace(kind, flow=flow), key=query_type_key(types))


def __getattr__(name: str) -> Any:  # noqa: ANN401  the one name
    if name != "AGENT_KINDS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load_kinds(_PLACES)
