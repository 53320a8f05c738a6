"""`GET /api/me` (the caller, and what a question may choose), and `/api/settings/agent-config`: a user's own limits.

What is saved is what the user has set; a field that was never set follows the default. Ceilings are applied when a
query is asked, never to what is saved: an operator who raises one gives users back what they had chosen.
"""

from importlib.metadata import version
from typing import Annotated, Any, Final, get_args

import structlog
from fastapi import APIRouter, Query
from starlette.responses import Response

from bt_runtime import TreeFileError
from oracle.agent.control.choosing import DEFAULT_TREE
from oracle.core.chunks import SourceType
from oracle.core.errors import UserError
from oracle.core.features import features
from oracle.decision import AgentConfig, DecisionTreeError, bounds
from oracle.decision.config import stricter
from oracle.domains.domain import domain_in
from oracle.llm.routing import provider_of
from oracle.server.api.access import CallerNow, Parts, config_of
from oracle.server.api.bodies import Limits
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.parts import ServiceParts
from oracle.server.api.replies import AgentSettings, Me

log = structlog.get_logger(__name__)


router = APIRouter(route_class=DescribedRoute)

_LIMITS: Final = "/api/settings/agent-config"

_VERSION: Final = version("oracle-bt")


@router.get("/api/me", tags=["me"], summary="The caller", response_model=Me, responses=refusals())
async def read_me(caller: CallerNow, parts: Parts) -> Response:
    """The user of the request's token, what that user may do, and which models and trees a question may name."""
    settings, has_provider = parts.settings, parts.provider_answers
    return json_answer(
        {
            "user_id": caller.user_id,
            "is_operator": caller.is_operator,
            "can_debug": caller.is_operator and parts.runs.debugger is not None,
            "project": parts.oracle.project or None,
            "sources": [each for each in get_args(SourceType) if each in parts.oracle.tool_groups],
            "suggestions": [
                {"question": each.question, "about": each.about}
                for each in domain_in(parts.trees.trees.library.registry).suggested(parts.oracle.tool_groups)
            ],
            "provider": provider_of(parts.oracle.model) if has_provider else "offline",
            "model": parts.oracle.model_name,
            "models": list(dict.fromkeys((settings.model, *settings.models))) if has_provider else [],
            "any_model": has_provider and not settings.models,
            "tree": DEFAULT_TREE,
            "trees": named_trees(parts),
            "features": [feature.name for feature in features(settings.features)],
            "version": _VERSION,
        }
    )


def named_trees(parts: ServiceParts) -> list[dict[str, str]]:
    """The trees that can be named and run; one whose file was never right is left out."""
    states = {state.name: state for state in parts.trees.trees.states()}
    found = []
    for name in parts.oracle.named_trees:
        state = states.get(name)
        if state is None:  # a decision tree in Python
            found.append({"name": name, "description": ""})
        elif state.tree is not None and state.is_runnable:
            found.append({"name": name, "description": state.tree.description})
    return found


@router.get(
    _LIMITS,
    tags=["settings"],
    summary="The limits, and their effective values",
    response_model=AgentSettings,
    responses=refusals(),
)
async def read_settings(
    parts: Parts,
    caller: CallerNow,
    tree: Annotated[
        str, Query(max_length=255, description="The tree that would answer; it can lower the values in `effective`.")
    ] = DEFAULT_TREE,
) -> Response:
    """All fields as the user has set them or by default; `effective`: as ceilings and the tree allow."""
    if tree != DEFAULT_TREE and not parts.oracle.may_name(tree):
        raise UserError(f"there is no tree {tree!r} that a question can name", loc=("query", "tree"), value=tree)
    return json_answer(await _values(parts, caller.user_id, tree))


@router.put(_LIMITS, tags=["settings"], summary="Set some limits", response_model=AgentSettings, responses=refusals())
async def change_settings(body: Limits, parts: Parts, caller: CallerNow) -> Response:
    """Any subset of the fields; they hold from the next query on. If one is wrong nothing is saved."""
    given = body.given
    if given:
        await parts.store.settings.change(caller.user_id, lambda before: {**before, **given})
    return json_answer(await _values(parts, caller.user_id))


@router.post(
    f"{_LIMITS}/reset",
    tags=["settings"],
    summary="Reset to the defaults",
    response_model=AgentSettings,
    responses=refusals(),
)
async def reset_settings(parts: Parts, caller: CallerNow) -> Response:
    """Forget what the user has set."""
    await parts.store.settings.reset(caller.user_id)
    return json_answer(await _values(parts, caller.user_id))


async def _values(parts: ServiceParts, user_id: str, tree: str = DEFAULT_TREE) -> dict[str, Any]:
    config, meter = await config_of(parts, user_id), parts.runs.meter
    allowed = None if meter is None else await meter.bounds(user_id)
    wanted, capped_config = config.model_dump(), parts.settings.capped(config)
    effective = (capped_config if allowed is None else stricter(capped_config, allowed)).model_dump()
    capped: dict[str, Any] = {
        field: {"limit": effective[field], "by": "operator"} for field in wanted if effective[field] < wanted[field]
    }
    turns = _turns_of_tree(parts, tree)
    if turns is not None and turns < effective["max_iterations"]:
        effective["max_iterations"] = turns
        capped["max_iterations"] = {"limit": turns, "by": "tree"}
    return wanted | {"effective": effective, "capped": capped, "fields": _fields(parts, turns), "tree": tree}


def _fields(parts: ServiceParts, turns: int | None) -> dict[str, Any]:
    """What is known of each field, whatever the user has set."""
    ceilings, defaults, described = parts.settings.ceilings, AgentConfig().model_dump(), AgentConfig.model_fields
    return {
        name: {
            "description": described[name].description,
            "default": default,
            "minimum": bounds(name)[0],
            "maximum": bounds(name)[1],
            "ceiling": ceilings.get(name),
            "tree": turns if name == "max_iterations" else None,
        }
        for name, default in defaults.items()
    }


def _turns_of_tree(parts: ServiceParts, tree: str) -> int | None:
    """The turns that a tree allows; `None` if none drives, or it cannot be read now."""
    try:
        return parts.oracle.turn_limit(tree)
    except (TreeFileError, DecisionTreeError) as error:
        log.error("tree.refused", problem=str(error)[:1_000])  # noqa: TRY400  the settings are answered all the same
        return None
