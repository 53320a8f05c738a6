"""What a call may reach: the parts of the service, its caller, and the runs and conversations that the caller may read.

Rules:

- A user reaches own runs, conversations and settings; everything else does not exist.
- Only operators change trees, and read of their files. Others get a 403, whether the tree exists or not.
- A run that shadows another one is no user's, whoever has asked: operators read and cancel it, to others it does not
  exist.
- An operator may also read of others' runs: that they exist, how they stand, and all that is recorded of them, which
  explains them. Not their streams, conversations and settings; and an operator cannot cancel another user's run.
- Where live debugging is on, operators also pause and change any run. Others get a 403, whether the run exists or not.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Final

import structlog
from fastapi import Depends, Query, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError

from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.core.errors import NotFoundError, UserError
from oracle.decision import AgentConfig, ConfigError
from oracle.runs.storage.records import RunRecord
from oracle.server.api.auth import Caller
from oracle.server.api.errors import ForgottenRunError
from oracle.server.api.parts import ServiceParts

log = structlog.get_logger(__name__)


_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


async def parts_of(request: Request) -> ServiceParts:
    """The parts of the service."""
    parts: ServiceParts = request.app.state.parts
    return parts


async def caller_of(request: Request) -> Caller:
    """The user who sent the request, as `AuthGuard` found it."""
    caller: Caller = request.state.caller
    return caller


async def operator_of(caller: Annotated[Caller, Depends(caller_of)]) -> Caller:
    """The user who sent the request, if an operator.

    Raises:
        UserError: it is not an operator.
    """
    if not caller.is_operator:
        raise UserError("Only operators may do this; ORACLE_OPERATORS names them.", status=403)
    return caller


# All are coroutines because FastAPI runs a plain function in a thread, for every request.
Parts = Annotated[ServiceParts, Depends(parts_of)]
CallerNow = Annotated[Caller, Depends(caller_of)]
OperatorNow = Annotated[Caller, Depends(operator_of)]


def is_id(text: str) -> bool:
    """Whether a run or a conversation could have this name; the store is not asked about others."""
    return _ID.fullmatch(text) is not None


async def find_run(run_id: str, parts: ServiceParts, *, user_id: str | None) -> RunRecord:
    """The user's run of this name; with `None` the run of any user.

    Raises:
        NotFoundError: it does not exist, or is another user's.
    """
    run = await parts.store.runs.find(run_id, user_id=user_id) if is_id(run_id) else None
    if run is None:
        raise NotFoundError("There is no such run.")
    return run


async def own_run(run_id: str, parts: Parts, caller: CallerNow) -> RunRecord:
    """The caller's own run of this name; for an operator a shadow as well."""
    if caller.is_operator:
        run = await find_run(run_id, parts, user_id=None)
        if run.shadow_of is not None:
            return run
    return await find_run(run_id, parts, user_id=caller.user_id)


async def readable_run(run_id: str, parts: Parts, caller: CallerNow) -> RunRecord:
    """A run of this name that the caller may look at: an own one; for an operator any."""
    return await find_run(run_id, parts, user_id=caller.reads_runs_of)


def with_texts(run: RunRecord) -> RunRecord:
    """The run, if its texts are kept.

    Raises:
        ForgottenRunError: they were deleted.
    """
    if run.kept != "whole":
        raise ForgottenRunError(run.id)
    return run


def with_figures(run: RunRecord) -> RunRecord:
    """The run, if at least the figures of its log are kept.

    Raises:
        ForgottenRunError: they were deleted.
    """
    if run.kept == "gone":
        raise ForgottenRunError(run.id)
    return run


async def conversation_id(context_id: str) -> str:
    """The conversation's name from the path.

    Raises:
        UnknownConversationError: no conversation has such a name.
    """
    if not is_id(context_id):
        raise UnknownConversationError(context_id)
    return context_id


OwnRun = Annotated[RunRecord, Depends(own_run)]
ReadableRun = Annotated[RunRecord, Depends(readable_run)]
ContextId = Annotated[str, Depends(conversation_id)]


TEXT: Final = r"^[^\x00]*$"
"""A text that goes into a database query: PostgreSQL does not accept NUL."""

When = Annotated[datetime | None, Query(description="ISO 8601; UTC if it has no offset.")]

_MOST_TOLD = 30


def seconds_of(when: datetime | None) -> float | None:
    """The time in seconds since the epoch."""
    if when is None:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


async def refuse_unknown_parameters(request: Request) -> None:
    """Refuse a request with query parameters that its call does not have; a dependency of every call.

    Raises:
        RequestValidationError: there are some.
    """
    if not request.scope["query_string"]:
        return
    known = _names(request.scope["route"].dependant)
    unknown = [(name, value) for name, value in request.query_params.items() if name not in known]
    if unknown:
        right = f"the known parameters are: {', '.join(sorted(known))}" if known else "this call takes none"
        raise RequestValidationError(
            [
                {
                    "type": "extra_forbidden",
                    "loc": ("query", name),
                    "msg": f"Unknown query parameter; {right}",
                    "input": value,
                }
                for name, value in unknown[:_MOST_TOLD]
            ]
        )


def _names(dependant: Dependant) -> set[str]:
    own = {field.alias for field in dependant.query_params}
    return own.union(*(_names(each) for each in dependant.dependencies))


async def config_of(parts: ServiceParts, user_id: str) -> AgentConfig:
    """The user's own limits; a missing field is the default.

    A saved value that is out of bounds (they were others when it was saved) counts as missing.
    """
    config = AgentConfig()
    for field, value in (await parts.store.settings.load(user_id)).items():
        try:
            config = config.with_limits({field: value})
        except ConfigError as error:
            log.warning("setting.skipped", field=field, problem=str(error))
    return config
