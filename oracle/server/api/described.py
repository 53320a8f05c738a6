"""How calls are described for `/openapi.json`, and calls that are imported when the first of them is made."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from oracle.core.chunks import CHUNK, Chunk, Interrupt, Source, SystemNotice
from oracle.core.loading import imported
from oracle.server.api.replies import ErrorAnswer, InvalidRequest, Metadata


class FurtherCalls(BaseRoute):
    """Stands for the calls of modules until one of them is made, so that a service that is only asked imports none.

    The first request that is for them and that no other call takes imports all of them, in a thread, as streams go on
    meanwhile. It must come after the routes of calls that its paths have as well.

    Args:
        app: gets the calls.
        routers: where they are (`module:name`).
        has: whether a request to this path may be for them.
        **settings: of `FastAPI.include_router`.
    """

    def __init__(
        self,
        app: FastAPI,
        routers: Sequence[str],
        *,
        has: Callable[[str], bool],
        **settings: Any,  # noqa: ANN401
    ) -> None:
        self._app = app
        self._routers = routers
        self._has = has
        self._settings = settings
        self._importing: asyncio.Task[None] | None = None

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Take what may be such a call."""
        may_be = scope["type"] == "http" and self._has(scope["path"])
        return (Match.FULL if may_be else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Import the calls, and have the request answered."""
        if self._importing is None:
            self._importing = asyncio.create_task(asyncio.to_thread(self._import), name="import-calls")
        await asyncio.shield(self._importing)
        self.add()
        await self._app.router(scope, receive, send)

    def add(self) -> None:
        """Put the calls in the place of this route; once."""
        if self in self._app.router.routes:
            self._app.router.routes.remove(self)
            for router in self._routers:
                self._app.include_router(imported(router), **self._settings)

    def _import(self) -> None:
        for router in self._routers:
            imported(router)


_REF = "#/components/schemas/{model}"

_DESCRIPTIONS = {
    400: "The request cannot be parsed.",
    401: "A valid bearer token is required.",
    403: "Only operators may do this, or the request comes from a page of another origin.",
    404: "Not found, or owned by another user.",
    408: "The body did not arrive in time.",
    409: "The conversation is answering another question.",
    410: "The texts of the run have been deleted.",
    413: "The body is too large.",
    415: "Files of this type are not accepted.",
    429: "Too many requests or runs; `Retry-After` says when to try again.",
    500: "An internal error.",
    503: "The service is stopping, or its store is unavailable; `Retry-After` says when to try again.",
}

MISTAKES: dict[int | str, dict[str, Any]] = {
    422: {"model": InvalidRequest, "description": "All mistakes of the request."}
}
"""Any call may answer 422: unknown query parameters are refused."""

ANYWHERE = (400, 401, 403, 408, 413, 422, 429, 500, 503)
"""The error statuses that any call below `/api/` may answer."""


def refusals(*further: int) -> dict[int | str, dict[str, Any]]:
    """Descriptions of the errors that any call may answer, and of `further` ones."""
    described: dict[int | str, dict[str, Any]] = {}
    for status in sorted({*ANYWHERE, *further}):
        if status == 422:
            described |= MISTAKES
        else:
            described[status] = {"model": ErrorAnswer, "description": _DESCRIPTIONS[status]}
        if status in (429, 503):
            described[status]["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
        elif status == 401:
            described[401]["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}, "description": "Bearer"}}
    return described


def event_stream(example: str, *, model: str = "Chunk") -> dict[str, Any]:
    """The content of a response that is a stream of events: `x-itemSchema` is the schema of one event.

    OpenAPI 3.2 calls this `itemSchema`; the document is OpenAPI 3.1, which lacks that field but allows extensions.
    There is no `schema`, because validators (schemathesis 4) apply it to the whole stream. Client generators read
    neither; they find the data by name among the components.
    """
    data = {"$ref": _REF.format(model=model)}
    event = {
        "type": "object",
        "required": ["id", "data"],
        "properties": {
            "id": {"type": "string", "pattern": "^[1-9][0-9]*$", "description": "1, 2, 3, … without gaps."},
            "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": data},
        },
    }
    return {"text/event-stream": {"x-itemSchema": event, "example": example}}


_MODELS: dict[str, Any] = {}
"""The response models by their names in the document."""


class DescribedRoute(APIRoute):
    """A route that describes its responses by references to their models.

    Given the models, FastAPI would build a validator for each response of each call at the start, and another one at
    the first request. No response is validated: calls write their bodies themselves. So the models are for the
    document alone, which is built when it is asked for.
    """

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        response_model: Any = None,  # noqa: ANN401  as FastAPI declares it
        responses: Mapping[int | str, Mapping[str, Any]] | None = None,
        **settings: Any,  # noqa: ANN401
    ) -> None:
        described = dict(responses or {})
        if response_model:
            status = settings.get("status_code") or 200
            described[status] = {**described.get(status, {}), "model": response_model}
        super().__init__(
            path,
            endpoint,
            response_model=None,
            responses={status: _by_reference(each) for status, each in described.items()},
            **settings,
        )


def _by_reference(response: Mapping[str, Any]) -> dict[str, Any]:
    described = dict(response)
    model = described.pop("model", None)
    if model is not None:
        if _MODELS.setdefault(model.__name__, model) is not model:
            raise ValueError(f"two models of responses are called {model.__name__!r}; rename one")
        schema = {"$ref": _REF.format(model=model.__name__)}
        described["content"] = {"application/json": {"schema": schema}, **described.get("content", {})}
    return described


class DescribedApp(FastAPI):
    """FastAPI with a document that has the models of responses, and the types of streamed events."""

    further: FurtherCalls

    def openapi(self) -> dict[str, Any]:
        """The document; built once."""
        if self.openapi_schema is None:
            from oracle.server.api.history_replies import TICK_STREAM  # noqa: PLC0415  for the document alone

            self.further.add()
            document = super().openapi()
            models: list[tuple[str, Literal["serialization"], TypeAdapter[Any]]] = [
                (name, "serialization", TypeAdapter(model)) for name, model in _MODELS.items()
            ]
            of_responses = TypeAdapter.json_schemas(models, ref_template=_REF)[1]["$defs"]
            components = dict(sorted({**document["components"]["schemas"], **of_responses}.items()))
            document["components"]["schemas"] = components
            chunk = CHUNK.json_schema(mode="serialization", ref_template=_REF)
            components |= chunk.pop("$defs")
            components["Chunk"] = chunk | {"title": "Chunk", "description": "The `data` of one event of a stream."}
            event = TICK_STREAM.json_schema(mode="serialization", ref_template=_REF)
            components |= event.pop("$defs")
            components["TickStream"] = event | {"title": "TickStream", "description": "The `data` of a tick's event."}
            components[SystemNotice.__name__]["properties"]["metadata"] = {"$ref": _REF.format(model=Metadata.__name__)}
            for kind in (*get_args(Chunk), Interrupt, Source):
                _require_all_but_nullable(components[kind.__name__])
            # Generators would take a field that has a default for a field that is always there.
            for schema in components.values():
                for field in schema.get("properties", {}).values():
                    field.pop("default", None)
            self.openapi_schema = _with_chunk_names(document)
        return self.openapi_schema


def _require_all_but_nullable(schema: dict[str, Any]) -> None:
    """A chunk has all its fields, but for those without a value, which are left out."""
    fields = schema["properties"].items()
    schema["required"] = [name for name, field in fields if {"type": "null"} not in field.get("anyOf", ())]


def _with_chunk_names(document: dict[str, Any]) -> dict[str, Any]:
    """The document with each kind of chunk under the name of its `type`: `Done` is `DoneChunk`."""
    names = {kind.__name__: kind.type.title().replace("_", "") + "Chunk" for kind in get_args(Chunk)}
    schemas = document["components"]["schemas"]
    for old, new in names.items():
        schemas[new] = schemas.pop(old) | {"title": new}
    text = json.dumps(document)
    for old, new in names.items():
        text = text.replace(f'"{_REF.format(model=old)}"', f'"{_REF.format(model=new)}"')
    renamed: dict[str, Any] = json.loads(text)
    return renamed
