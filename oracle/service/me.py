"""`GET /api/me`: the caller."""

from fastapi import APIRouter
from starlette.responses import Response

from oracle.service.access import CallerNow, Parts
from oracle.service.answers import json_answer
from oracle.service.described import refusals
from oracle.service.replies import Me

router = APIRouter(tags=["me"])


@router.get("/api/me", summary="The caller", response_model=Me, responses=refusals())
async def read_me(caller: CallerNow, parts: Parts) -> Response:
    """The user of the request's token, whether an operator, and whether runs can be debugged."""
    can_debug = caller.is_operator and parts.runs.debugger is not None
    return json_answer({"user_id": caller.user_id, "is_operator": caller.is_operator, "can_debug": can_debug})
