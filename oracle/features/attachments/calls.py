"""`/api/attachments`: files that wait for their question, and those of earlier ones."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from oracle.features.attachments.asking import checked_file, table_of
from oracle.features.attachments.keeping import unknown
from oracle.server.api.access import CallerNow, Parts
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.replies import ReplyBody

router = APIRouter(tags=["queries"], route_class=DescribedRoute)

_LONGEST_ID = 64


class AttachmentAnswer(ReplyBody):
    """A file that is kept."""

    id: str
    name: str
    media_type: str
    size: int
    tokens: int


_BYTES = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}


@router.post(
    "/api/attachments",
    summary="Upload a file for a question",
    status_code=201,
    response_model=AttachmentAnswer,
    responses=refusals(415),
    openapi_extra={"requestBody": {"required": True, **_BYTES}},
)
async def upload_attachment(
    request: Request,
    parts: Parts,
    caller: CallerNow,
    name: Annotated[str, Query(min_length=1, max_length=200, description="The name that people and the model see.")],
) -> Response:
    """Keep a file until a question names its `id`; the body is the file. What it is, its content says.

    Pictures (PNG, JPEG, GIF, WebP), PDF and UTF-8 text are taken. A file that no question names is deleted after a day.
    """
    data = await request.body()
    block = await run_in_threadpool(partial(checked_file, data, name))
    await table_of(parts).keep(caller.user_id, block, data)
    return json_answer({name: value for name, value in block.items() if name != "type"}, status=201)


@router.get(
    "/api/attachments/{attachment_id}",
    summary="Download an attachment",
    response_class=Response,
    responses={200: {"description": "The bytes of the file.", **_BYTES}, **refusals(404)},
)
async def download_attachment(attachment_id: str, parts: Parts, caller: CallerNow) -> Response:
    """The bytes of a file of one's own, as long as they are kept."""
    table = table_of(parts)
    ((block, _),) = await table.find(caller.user_id, [attachment_id[:_LONGEST_ID]])
    data = (await table.read([block["id"]], user_id=caller.user_id)).get(block["id"])
    if data is None:
        raise unknown(attachment_id)
    # Never shown by a browser as a page of this service: its policy (`Edge`) lets nothing in it run either.
    return Response(data, media_type=block["media_type"], headers={"Content-Disposition": "attachment"})


@router.delete(
    "/api/attachments/{attachment_id}",
    summary="Delete a file that no question uses",
    status_code=204,
    response_class=Response,
    responses=refusals(404),
)
async def delete_attachment(attachment_id: str, parts: Parts, caller: CallerNow) -> Response:
    """Delete a file that waits for its question; that of a question goes with its run, or its conversation."""
    if not await table_of(parts).drop(caller.user_id, attachment_id[:_LONGEST_ID]):
        raise unknown(attachment_id)
    return Response(status_code=204)
