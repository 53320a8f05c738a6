"""The smallest adapter: the protocol `plain` of the tests, and the example of `docs/internals/protocols.md`."""

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from oracle.core.chunks import Chunk, Content, Done
from oracle.core.encoding import to_json
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import CallerNow, Parts, find_run
from oracle.server.api.adapters import Refusal
from oracle.server.api.errors import json_answer
from oracle.server.connect.base.asking import begin
from oracle.server.connect.base.chain import ClientQuestion, Said
from oracle.server.connect.base.streaming import adapted_stream, folded

router = APIRouter()


class PlainTranslator:
    """Text as it comes, and how it ended."""

    def __init__(self, run: RunRecord) -> None:
        self._run = run

    def opening(self) -> Iterable[bytes]:
        yield _frame({"run": self._run.id, "topic": self._run.input.get("metadata", {}).get("topic")})

    def frames(self, n: int, chunk: Chunk) -> Iterable[bytes]:
        if isinstance(chunk, Content):
            return (_frame({"id": f"{self._run.id}-{n}", "text": chunk.content}),)
        if isinstance(chunk, Done):
            return (_frame({"end": chunk.termination_reason}), b"data: [DONE]\n\n")
        return ()

    def parked(self) -> Iterable[bytes]:
        return (_frame({"end": "waiting"}), b"data: [DONE]\n\n")


@router.post("/plain/ask")
async def ask(body: dict[str, Any], request: Request, parts: Parts, caller: CallerNow) -> Response:
    """Ask; `stream: false` waits for the whole answer."""
    said = tuple(Said(role, text) for role, text in body.pop("said", ()))
    streams, after = body.pop("stream", True), body.pop("after", 0)
    begun = await begin(ClientQuestion(said=said, **body), request, parts, caller, protocol="plain")
    if streams:
        return adapted_stream(parts, begun.run, PlainTranslator(begun.run), after=after)
    answer = await folded(request, parts, begun.run)
    if answer is None:
        return Response(status_code=204)
    end = "waiting" if answer.done is None else answer.done.termination_reason
    return json_answer({"run": begun.run.id, "text": answer.text, "end": end, "is_earlier": begun.is_earlier})


@router.get("/plain/runs/{run_id}")
async def read(run_id: str, parts: Parts, caller: CallerNow, after: int = 0) -> Response:
    """Read a run again, behind the frames that the client has."""
    run = await find_run(run_id, parts, user_id=caller.user_id)
    return adapted_stream(parts, run, PlainTranslator(run), after=after)


def refused(refusal: Refusal) -> Response:
    """A refusal as this protocol has it."""
    fault = {"code": refusal.status, "message": refusal.message, "where": list(refusal.where)}
    return json_answer({"fault": fault, "again_after_s": refusal.retry_after_s}, status=refusal.status)


def _frame(value: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % to_json(value)
