"""`/api/settings/agent-config`: a user's own limits, and what holds of them.

What is saved is what the user has set; a field that was never set follows the default. Ceilings are applied when a
query is asked, never to what is saved: an operator who raises one gives users back what they had chosen.
"""

from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Query
from starlette.responses import Response

from bt_runtime import TreeFileError
from oracle.agent.control.choosing import DEFAULT_TREE
from oracle.core.errors import UserError
from oracle.decision import AgentConfig, DecisionTreeError, bounds
from oracle.server.api.access import CallerNow, Parts
from oracle.server.api.answers import json_answer
from oracle.server.api.bodies import Limits
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.parts import ServiceParts
from oracle.server.api.replies import AgentSettings
from oracle.server.api.user_limits import config_of

log = structlog.get_logger(__name__)

router = APIRouter(prefix="/api/settings/agent-config", tags=["settings"], route_class=DescribedRoute)


@router.get("", summary="The limits, and what holds of them", response_model=AgentSettings, responses=refusals())
async def read_settings(
    parts: Parts,
    caller: CallerNow,
    tree: Annotated[
        str, Query(max_length=255, description="The tree that would answer; `effective` is as it allows.")
    ] = DEFAULT_TREE,
) -> Response:
    """All fields as the user has set them or by default; `effective`: as ceilings and the tree allow."""
    if tree != DEFAULT_TREE and not parts.oracle.may_name(tree):
        raise UserError(f"there is no tree {tree!r} to ask", loc=("query", "tree"), value=tree)
    return json_answer(_values(parts, await config_of(parts, caller.user_id), tree))


@router.put("", summary="Set some limits", response_model=AgentSettings, responses=refusals())
async def change_settings(body: Limits, parts: Parts, caller: CallerNow) -> Response:
    """Any subset of the fields; they hold from the next query on. If one is wrong nothing is saved."""
    given = body.given
    if given:
        await parts.store.settings.change(caller.user_id, lambda before: {**before, **given})
    return json_answer(_values(parts, await config_of(parts, caller.user_id)))


@router.post("/reset", summary="Back to the defaults", response_model=AgentSettings, responses=refusals())
async def reset_settings(parts: Parts, caller: CallerNow) -> Response:
    """Forget what the user has set."""
    await parts.store.settings.reset(caller.user_id)
    return json_answer(_values(parts, await config_of(parts, caller.user_id)))


def _values(parts: ServiceParts, config: AgentConfig, tree: str = DEFAULT_TREE) -> dict[str, Any]:
    wanted = config.model_dump()
    effective = parts.settings.capped(config).model_dump()
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
