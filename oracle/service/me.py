"""`GET /api/me`: the caller."""

from fastapi import APIRouter
from starlette.responses import Response

from oracle.service.access import CallerNow
from oracle.service.answers import json_answer
from oracle.service.described import refusals
from oracle.service.replies import Me

router = APIRouter(tags=["me"])


@router.get("/api/me", summary="The caller", response_model=Me, responses=refusals())
async def read_me(caller: CallerNow) -> Response:
    """The user of the request's token, and whether an operator."""
    return json_answer({"user_id": caller.user_id, "is_operator": caller.is_operator})
