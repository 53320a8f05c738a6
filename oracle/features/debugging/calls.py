"""`/api/runs/{run_id}/debug` and `/api/debug/breakpoints…`: live debugging for operators."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import Field
from starlette.responses import Response

from bt_runtime import ForcedResult, SystemClock, TreeDefinition, TreeFileError, TreeNotFoundError
from bt_runtime.text import iso
from oracle.core.errors import NotFoundError
from oracle.features.debugging.foresight import foresight_of
from oracle.runs.debugging.commands import DebugCommand, DebugRefusedError, WrongCommandError, check_breakpoint
from oracle.runs.debugging.debugger import Debugger
from oracle.runs.record.debug import ResumeCause
from oracle.runs.storage.breakpoints import Breakpoint, BreakpointKind
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import OperatorNow, Parts, find_run, operator_of
from oracle.server.api.auth import Caller
from oracle.server.api.bodies import BreakpointChange, BreakpointNew, DebugRequest
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.parts import ServiceParts
from oracle.server.api.replies import ReplyBody


class DebugHit(ReplyBody):
    """The breakpoint that has paused a run."""

    breakpoint: str = Field(description="Its id.")
    kind: BreakpointKind
    path: str | None = Field(description="The node that is about to run, or has raised.")
    expression: str | None = Field(description="What is true.")
    error: str | None = Field(description="What the node raised, as `Type: message`.")
    is_ahead: bool = Field(
        description="The node is ticked in the tick that comes next. If false, the tick is over; a node that did not "
        "raise has begun in it, and the turn, tool call or other work that it asked for has not."
    )


class DebugBody(ReplyBody):
    """Show the debug state of a run."""

    run_id: str
    state: Literal["running", "pausing", "paused", "stepping", "ended"] = Field(
        description="`pausing`: it pauses after its next tick; `stepping`: that tick is under way."
    )
    tick: int = Field(description="The last tick before it entered this state; 0 before the first.")
    since: str | None = Field(description="Since when; ISO 8601, UTC; null if it was never paused.")
    by: str | None = Field(description="The operator who caused it; null if none did.")
    hit: DebugHit | None
    lease_s: float | None = Field(description="Seconds until it resumes without a command; null unless it is paused.")
    resumes_at: str | None = Field(description="When that is; ISO 8601, UTC.")
    values: dict[str, Any] = Field(description="Blackboard values set at the next tick.")
    results: dict[str, ForcedResult] = Field(description="Results forced at the next tick, by node.")
    why: ResumeCause | None = Field(description="Why it last resumed.")


class BreakpointBody(ReplyBody):
    """Where runs are paused."""

    id: str
    kind: BreakpointKind
    tree: str | None
    run_id: str | None
    user_id: str | None
    path: str | None
    expression: str | None
    enabled: bool
    created_by: str
    at: str = Field(description="ISO 8601, UTC.")
    problem: str | None = Field(
        description="Why no new run can hit it, such as a tree without that node; null if one can."
    )


class BreakpointList(ReplyBody):
    """All breakpoints, oldest first."""

    breakpoints: list[BreakpointBody]


Since = Annotated[str | None, Query(max_length=40, description="`since` of the state that is known; none: null.")]
WaitS = Annotated[float, Query(ge=0, le=60, description="Seconds to wait at most for another state.")]

router = APIRouter(tags=["debugging"], route_class=DescribedRoute)


async def debugger_of(parts: Parts, _: Annotated[Caller, Depends(operator_of)]) -> Debugger:
    """The debugger, for operators.

    Raises:
        UserError: the caller is not an operator.
        DebugRefusedError: live debugging is off.
    """
    if parts.runs.debugger is None:
        raise DebugRefusedError("Live debugging is off; start the service with ORACLE_DEBUG=1.")
    return parts.runs.debugger


DebuggerNow = Annotated[Debugger, Depends(debugger_of)]


@router.get(
    "/api/runs/{run_id}/debug",
    summary="Show the debug state of a run",
    response_model=DebugBody,
    responses=refusals(404, 409),
)
async def read_debug(
    run_id: str, debugger: DebuggerNow, parts: Parts, since: Since = None, wait_s: WaitS = 0.0
) -> Response:
    """Running or paused, at which tick and by which breakpoint, and what the next tick gets.

    With `wait_s` the answer comes as soon as the run enters another state than that of `since`.
    """
    with parts.store.log.watching(run_id) as watch:
        until_s = time.monotonic() + wait_s
        while True:
            commits = watch.commits
            found = await _state(await find_run(run_id, parts, user_id=None), debugger)
            left_s = until_s - time.monotonic()
            if found["since"] != since or found["state"] == "ended" or left_s <= 0:
                return json_answer(found)
            with suppress(TimeoutError):
                await asyncio.wait_for(watch.wait(commits), left_s)


@router.post(
    "/api/runs/{run_id}/debug",
    summary="Debug a run",
    status_code=202,
    response_model=DebugBody,
    responses=refusals(404, 409),
)
async def debug_run(
    run_id: str, body: DebugRequest, debugger: DebuggerNow, parts: Parts, caller: OperatorNow
) -> Response:
    """Pause, step, resume, change a value, force a result; each command begins the lease anew.

    A run of another worker gets the command a moment later.
    """
    run = await find_run(run_id, parts, user_id=None)
    await debugger.command(run, _command(body, caller.user_id))
    return json_answer(await _state(run, debugger), status=202)


@router.get(
    "/api/debug/breakpoints",
    summary="The breakpoints",
    response_model=BreakpointList,
    responses=refusals(409),
)
async def list_breakpoints(debugger: DebuggerNow, parts: Parts) -> Response:
    """All of them, oldest first."""
    found = await parts.store.breakpoints.all()
    return json_answer({"breakpoints": [await _breakpoint(each, debugger, parts) for each in found]})


@router.post(
    "/api/debug/breakpoints",
    summary="Set a breakpoint",
    status_code=201,
    response_model=BreakpointBody,
    responses=refusals(409),
)
async def set_breakpoint(body: BreakpointNew, debugger: DebuggerNow, parts: Parts, caller: OperatorNow) -> Response:
    """Have runs paused there, those under way as well; it is kept until it is removed."""
    fields = body.model_dump()
    new = Breakpoint(id=secrets.token_hex(8), created_by=caller.user_id, at=debugger.now(), **fields)
    await _check(new, debugger, parts)
    await parts.store.breakpoints.add(new)
    await debugger.announce(new)
    return json_answer(await _breakpoint(new, debugger, parts), status=201)


@router.patch(
    "/api/debug/breakpoints/{breakpoint_id}",
    summary="Turn a breakpoint on or off",
    response_model=BreakpointBody,
    responses=refusals(404, 409),
)
async def change_breakpoint(
    breakpoint_id: str, body: BreakpointChange, debugger: DebuggerNow, parts: Parts
) -> Response:
    """One that is off pauses nothing."""
    changed = await parts.store.breakpoints.set_enabled(breakpoint_id, enabled=body.enabled)
    if changed is None:
        raise NotFoundError("There is no such breakpoint.")
    await debugger.announce(changed)
    return json_answer(await _breakpoint(changed, debugger, parts))


@router.delete(
    "/api/debug/breakpoints/{breakpoint_id}",
    summary="Remove a breakpoint",
    status_code=204,
    response_class=Response,
    responses=refusals(404, 409),
)
async def remove_breakpoint(breakpoint_id: str, debugger: DebuggerNow, parts: Parts) -> Response:
    """Runs that it has paused stay paused."""
    removed = await parts.store.breakpoints.remove(breakpoint_id)
    if removed is None:
        raise NotFoundError("There is no such breakpoint.")
    await debugger.announce(removed)
    return Response(status_code=204)


def _command(body: DebugRequest, by: str) -> DebugCommand:
    return DebugCommand(body.command, by, **body.model_dump(exclude={"command"}))


async def _state(run: RunRecord, debugger: Debugger) -> dict[str, Any]:
    state = await debugger.state(run)
    is_paused = run.status == "running" and state.standing == "paused" and state.resumes_at is not None
    resumes_at = state.resumes_at if is_paused else None
    return {
        "run_id": run.id,
        "state": state.standing if run.status == "running" else "ended",
        "tick": state.tick,
        "since": None if state.since is None else iso(state.since),
        "by": state.by,
        "hit": None if state.hit is None else asdict(state.hit),
        "lease_s": None if resumes_at is None else round(max(0.0, resumes_at - debugger.now()), 3),
        "resumes_at": None if resumes_at is None else iso(resumes_at),
        "values": dict(state.values),
        "results": dict(state.results),
        "why": state.why,
    }


async def _breakpoint(each: Breakpoint, debugger: Debugger, parts: ServiceParts) -> dict[str, Any]:
    problem = None
    try:
        await _check(each, debugger, parts)
    except (WrongCommandError, DebugRefusedError) as error:
        problem = str(error)
    fields = {name: getattr(each, name) for name in each.__slots__}
    return {**fields, "at": iso(each.at), "problem": problem}


async def _check(each: Breakpoint, debugger: Debugger, parts: ServiceParts) -> None:
    """Check that a breakpoint can be hit.

    Raises:
        WrongCommandError: a part of it is wrong.
        DebugRefusedError: the run that it names cannot be debugged.
    """
    definition = None
    if each.run_id is not None:
        try:
            run = await find_run(each.run_id, parts, user_id=None)
        except NotFoundError:
            raise WrongCommandError("there is no such run", field="run_id", value=each.run_id) from None
        definition = await debugger.definition_of(run)
        for field, meant, found in (("tree", each.tree, run.tree), ("user_id", each.user_id, run.user_id)):
            if meant not in (None, found):
                raise WrongCommandError(f"the run is one of {found!r}", field=field, value=meant)
    elif each.tree is not None:
        definition = _tree(each.tree, parts)
    check_breakpoint(each, definition=definition, keys=debugger.registry.keys)


def _tree(name: str, parts: ServiceParts) -> TreeDefinition:
    try:
        return parts.trees.trees.load(name)
    except TreeNotFoundError as error:
        raise WrongCommandError(str(error), field="tree", value=name) from None
    except TreeFileError:
        raise WrongCommandError(f"the tree {name!r} has mistakes and cannot run", field="tree", value=name) from None


@asynccontextmanager
async def open_debugger(parts: ServiceParts) -> AsyncIterator[None]:
    """Turn on debugging for the runs of a service."""
    registry, lease_s = parts.trees.trees.library.registry, parts.settings["debug_lease_s"]
    foresight = foresight_of(parts.store, registry)
    parts.runs.debugger = Debugger(
        parts.store, registry=registry, lease_s=lease_s, clock=SystemClock(), foresight=foresight
    )
    yield
