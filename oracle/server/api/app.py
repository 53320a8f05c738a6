"""`build_app`: the calls, what stands in front of them, and how they are described."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import Depends, FastAPI
from fastapi.security import HTTPBearer
from fastapi.telemetry import TelemetryConfig
from starlette.middleware.cors import CORSMiddleware

from oracle.core.features import Feature, features, routers
from oracle.server.api import console, operations, protected, queries
from oracle.server.api.access import refuse_unknown_parameters
from oracle.server.api.adapters import MOST_BODY_BYTES, Adapter, OwnRefusals, adapter_of, adapters_of
from oracle.server.api.described import DescribedApp, FurtherCalls
from oracle.server.api.errors import add_error_answers
from oracle.server.api.guards import AuthGuard, BodyLimit, Edge, LoopbackGuard, RequestLimit
from oracle.server.api.parts import ServiceParts

_DESCRIPTION = """\
An LLM agent for chat products whose control is a behavior tree.

Runs, conversations and settings belong to a user. Those of another user answer 404, as if they did not exist.
Operators also see the state and the recorded ticks of other users' runs, never their streams, conversations and
settings;
Where live debugging is on, operators can pause and change runs.
Errors are `{"detail": …}`. An invalid request gets 422 with a list of all mistakes.
"""

_FURTHER: Final = (
    "sources",
    "run_list",
    "recorded",
    "watching",
    "whole_runs",
    "conversations",
    "trees",
    "people",
    "me",
)
"""The kernel's modules of calls, other than asking and reading answers."""

_NO_TELEMETRY: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""FastAPI's own would hand the texts of requests that were refused to whatever OpenTelemetry finds in the process; who
wants traces puts a middleware of OpenTelemetry's in front."""


def build_app(parts: ServiceParts, *, adapters: Sequence[Adapter] | None = None) -> FastAPI:
    """The service as an ASGI app, with the calls of the features that its settings do not leave out.

    Args:
        parts: of the service; its `runs` must have been entered. At the end of the process they are to be drained, and
            `streams` closed after that.
        adapters: the protocols of clients that are served besides its own calls; `None`: those of the features.
    """
    used = features(parts.settings.features)
    adapters = adapters_of(used) if adapters is None else adapters
    app = _with_calls(used, has_auth=parts.authenticator.is_required, adapters=adapters)
    app.state.parts = parts
    _put_guards_in_front(app, parts, adapters, {path: most for each in used for path, most in each.bodies.items()})
    return app


def describe_service() -> dict[str, Any]:
    """The OpenAPI document of a service without auth, as `/openapi.json` answers it; no service is started."""
    return _with_calls(features(), has_auth=False, adapters=()).openapi()


def _with_calls(used: Sequence[Feature], *, has_auth: bool, adapters: Sequence[Adapter]) -> FastAPI:
    app = DescribedApp(
        title="Oracle",
        version="1",
        description=_DESCRIPTION,
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
        generate_unique_id_function=lambda route: route.name,  # the names of the functions read well in clients
    )
    strict = [Depends(refuse_unknown_parameters)]
    # The guard in front has checked the token; this only describes it.
    kinds = "A token from ORACLE_TOKENS, a JWT (HS256), or an access token of an OIDC issuer."
    bearer = [Depends(HTTPBearer(auto_error=False, description=kinds))]
    guarded = [*strict, *bearer] if has_auth else strict
    app.include_router(queries.router, dependencies=guarded)
    app.include_router(operations.router, dependencies=strict)
    app.include_router(protected.router)
    app.include_router(console.router)
    for each in adapters:  # their protocols describe them, and have parameters that are to be ignored
        calls = FurtherCalls(app, [f"{each.module}:router"], has=each.has, include_in_schema=False)
        app.router.routes.append(calls)
    further = [*(f"oracle.server.api.{module}:router" for module in _FURTHER), *routers(used)]
    app.further = FurtherCalls(app, further, has=lambda path: "/api/" in path, dependencies=guarded)
    app.router.routes.append(app.further)
    if is_open := [place for each in used for place in each.open_calls]:
        calls = FurtherCalls(app, is_open, has=lambda path: path.startswith("/open/"), include_in_schema=False)
        app.router.routes.append(calls)
    add_error_answers(app)
    return app


def _put_guards_in_front(
    app: FastAPI, parts: ServiceParts, adapters: Sequence[Adapter], bodies: Mapping[str, int]
) -> None:
    """The last one that is added stands outermost; `oracle.server.api.guards` says why in this order."""
    settings, per_minute = parts.settings, parts.settings.requests_per_minute
    limit = None if per_minute is None else RequestLimit(per_minute, clock=parts.clock, buckets=parts.buckets)

    def most_bytes(path: str) -> int:
        least = MOST_BODY_BYTES if adapter_of(path, adapters) else bodies.get(path, 0)
        return max(settings.max_body_bytes, least)

    app.add_middleware(
        BodyLimit,
        most_bytes=most_bytes,
        most_s=parts.body_s,
    )
    app.add_middleware(AuthGuard, authenticator=parts.authenticator, limit=limit, adapters=adapters)
    if not parts.authenticator.is_required:
        app.add_middleware(LoopbackGuard, origins=settings.cors_origins)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors_origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["*"],  # SDKs of other protocols have many; no cookie is sent, and none says who calls
            expose_headers=["X-Run-Id", "Location", "Retry-After", "X-Request-Id"],
        )
    app.add_middleware(Edge)
    if adapters:
        app.add_middleware(OwnRefusals, adapters=adapters)
