"""`POST /api/oracle/runs/{run_id}/feedback`: what users think of answers."""

from dataclasses import asdict
from functools import partial
from typing import Self

from fastapi import APIRouter
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from starlette.responses import Response

from oracle.runs.storage.feedback import rate
from oracle.runs.storage.records import Feedback, Rating
from oracle.server.api.access import CallerNow, Parts, find_run, with_texts
from oracle.server.api.bodies import Note, RequestBody
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import ForgottenRunError, json_answer
from oracle.server.api.replies import ReplyBody

router = APIRouter(tags=["runs"], route_class=DescribedRoute)


class FeedbackBody(RequestBody):
    """What the user thinks of an answer."""

    rating: Rating | None = Field(description="The rating; null withdraws the previous one.")
    text: Note | None = Field(default=None, description="The reason; up to 2,000 characters.")

    @model_validator(mode="after")
    def _has_rating(self) -> Self:
        if self.rating is None and self.text:
            raise PydanticCustomError("text_without_rating", "a withdrawn rating has no text; leave it out, or rate")
        return self


class FeedbackAnswer(ReplyBody):
    """What is kept now."""

    run_id: str
    feedback: Feedback | None


@router.post(
    "/api/oracle/runs/{run_id}/feedback",
    summary="Rate an answer",
    response_model=FeedbackAnswer,
    responses=refusals(404, 410),
)
async def rate_run(run_id: str, body: FeedbackBody, parts: Parts, caller: CallerNow) -> Response:
    """Say what one thinks of an own run's answer; the latest counts. Its text goes when the run's texts go."""
    run = with_texts(await find_run(run_id, parts, user_id=caller.user_id))
    feedback = None if body.rating is None else Feedback(body.rating, body.text or "")
    if not await parts.store.write(partial(rate, run_id=run.id, user_id=caller.user_id, feedback=feedback)):
        raise ForgottenRunError(run.id)
    parts.metrics.rated(body.rating or "withdrawn")
    return json_answer({"run_id": run.id, "feedback": feedback and asdict(feedback)})
