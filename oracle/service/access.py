"""What a call may reach: the parts of the service, its caller, and the runs that are the caller's.

Rules:

- A user reaches own runs, conversations and settings; everything else does not exist.
- An operator sees further: that others' runs were, how they stand, their ticks and signals. Not their streams, nor
  their conversations and settings, and an operator cancels nobody's run.
"""

import re
from typing import Annotated

from fastapi import Depends, Request

from oracle.service.auth import Caller
from oracle.service.errors import UnknownRunError
from oracle.service.parts import ServiceParts
from oracle.storage import RunRecord

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


async def parts_of(request: Request) -> ServiceParts:
    """The parts of the service."""
    parts: ServiceParts = request.app.state.parts
    return parts


async def caller_of(request: Request) -> Caller:
    """Who sent the request; `AuthGuard` found it."""
    caller: Caller = request.state.caller
    return caller


# Both are coroutines because FastAPI sends a plain function to a thread, for every request.
Parts = Annotated[ServiceParts, Depends(parts_of)]
CallerNow = Annotated[Caller, Depends(caller_of)]


def is_id(text: str) -> bool:
    """Whether a run or a conversation could be called so; the store is not asked about anything else."""
    return _ID.fullmatch(text) is not None


async def own_run(run_id: str, parts: Parts, caller: CallerNow) -> RunRecord:
    """The caller's run of that name.

    Raises:
        UnknownRunError: there is none.
    """
    run = await parts.store.runs.find(run_id, user_id=caller.user_id) if is_id(run_id) else None
    if run is None:
        raise UnknownRunError(run_id)
    return run


async def seen_run(run_id: str, parts: Parts, caller: CallerNow) -> RunRecord:
    """A run that the caller may look at: an own one; for an operator any.

    Raises:
        UnknownRunError: there is none.
    """
    user_id = None if caller.is_operator else caller.user_id
    run = await parts.store.runs.find(run_id, user_id=user_id) if is_id(run_id) else None
    if run is None:
        raise UnknownRunError(run_id)
    return run


OwnRun = Annotated[RunRecord, Depends(own_run)]
SeenRun = Annotated[RunRecord, Depends(seen_run)]
