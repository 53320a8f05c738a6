"""`GET /api/me`: the caller, and what a question may choose."""

from importlib.metadata import version
from typing import Final, get_args

from fastapi import APIRouter
from starlette.responses import Response

from oracle.agent.control.choosing import DEFAULT_TREE
from oracle.core.chunks import SourceType
from oracle.core.features import features
from oracle.server.api.access import CallerNow, Parts
from oracle.server.api.answers import json_answer
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.parts import ServiceParts
from oracle.server.api.replies import Me

router = APIRouter(tags=["me"], route_class=DescribedRoute)

_VERSION: Final = version("oracle-bt")


@router.get("/api/me", summary="The caller", response_model=Me, responses=refusals())
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
            "provider": "anthropic" if has_provider else "offline",
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
