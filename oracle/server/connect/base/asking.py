"""`begin`: the run that answers a client's request, in the conversation in which the client has asked it.

Rules:

- What a client says was said is compared with what was said, and not believed.
- `oracle.server.connect.base.placing` says in which conversation that is.
- A request that is sent again gets the run of the first one. So does one that comes at the same moment with the same
  name of the conversation.
- What the client's system messages say is ignored, and told once in the log.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import structlog
from starlette.requests import Request

from oracle.agent.answering import Ask
from oracle.agent.control.choosing import DEFAULT_TREE
from oracle.core.errors import UserError
from oracle.runs.storage.client_runs import KnownRuns, Origin
from oracle.runs.storage.errors import ConversationBusyError, ConversationMovedError
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import config_of, with_texts
from oracle.server.api.auth import Caller
from oracle.server.api.fields import with_fields
from oracle.server.api.parts import ServiceParts
from oracle.server.api.queries import checked_model, headers_of, trace_of
from oracle.server.connect.base.chain import Chain, ClientQuestion, chain_of
from oracle.server.connect.base.placing import Placing

log = structlog.get_logger(__name__)

_told: set[str] = set()
_MOST_METADATA, _LONGEST_NAME, _LONGEST_TEXT = 17, 64, 512  # OpenAI's bounds, and one name of an adapter's own
_MOST_TRIES = 30  # while other requests begin runs of the same conversation


class Begun(NamedTuple):
    """A run, and whether an earlier request has begun it."""

    run: RunRecord
    is_earlier: bool


async def begin(
    asked: ClientQuestion, request: Request, parts: ServiceParts, caller: Caller, *, protocol: str
) -> Begun:
    """Begin the run that answers a request, or find the one that an earlier request has begun.

    Args:
        asked: the question.
        request: its headers may name a trace.
        parts: the service's parts.
        caller: the user of the request, and whether an operator.
        protocol: the name of the adapter; conversations of different ones do not meet.

    Raises:
        OracleError: the question is refused, as `RunManager.start` says, or the model may not be used.
        UserError: there is more metadata than is kept.
        ConversationBusyError: too many other requests come at the same moment.
    """
    chain = chain_of(asked, user_id=caller.user_id, protocol=protocol)
    placing = Placing(parts, caller.user_id, protocol, asked, chain)
    _check_metadata(asked.metadata)
    if asked.instructions and protocol not in _told:
        _told.add(protocol)
        log.info("instructions.ignored", protocol=protocol, hint="system messages of clients are ignored; logged once")
    is_one = chain.is_named or asked.is_repeat  # without a name, several conversations may begin with the same words
    seen: int | None = None
    for _ in range(_MOST_TRIES):
        known = await parts.store.client_runs.known(chain.key, (*chain.before, chain.said))
        earlier = _earlier(asked, chain, known, seen)
        if earlier is not None and (run := await parts.runs.begun(earlier)) is not None:
            return Begun(with_texts(run), is_earlier=True)
        seen = known.last_n if seen is None else seen
        async with parts.load.opening():
            ask, further = await with_fields(await _ask(asked, request, parts, caller), asked.of_features, parts)
            place = await placing.place(known)
            n = known.last_n + 1 if is_one else None
            origin = Origin(chain.key, n, chain.said)
            try:
                live = await parts.runs.start(
                    replace(ask, context_id=place.context_id), claims=(origin, *further), metadata=asked.metadata
                )
                return Begun(live.record, is_earlier=False)
            except Exception as error:
                await placing.discard(place)
                if not isinstance(error, ConversationMovedError):
                    raise
    raise ConversationBusyError("other requests of the conversation kept arriving at the same moment")


def _earlier(asked: ClientQuestion, chain: Chain, known: KnownRuns, seen: int | None) -> str | None:
    """The run that an earlier request of the same words has begun, if this one is the same sent again.

    It is if it says so, or if the other one came at the same moment: its run is later than the last one that was seen.
    """
    for run in known.runs.get(chain.said, [])[:1]:
        is_latest = asked.is_whole or run.n == known.last_n
        if (asked.is_repeat and is_latest) or (seen is not None and run.n > seen):
            return run.run_id
    return None


def _check_metadata(metadata: Mapping[str, str]) -> None:
    names, texts = max(map(len, metadata), default=0), max(map(len, metadata.values()), default=0)
    if len(metadata) > _MOST_METADATA or names > _LONGEST_NAME or texts > _LONGEST_TEXT:
        raise UserError(
            f"metadata may have at most {_MOST_METADATA} names of up to {_LONGEST_NAME} characters, with texts of up "
            f"to "
            f"{_LONGEST_TEXT}; here are {len(metadata)} names of up to {names}, with texts of up to {texts}",
            loc=("body", "metadata"),
        )


async def _ask(asked: ClientQuestion, request: Request, parts: ServiceParts, caller: Caller) -> Ask:
    return Ask(
        question=asked.question,
        user_id=caller.user_id,
        model=checked_model(asked.model, parts),
        tree=asked.tree or DEFAULT_TREE,
        limits=asked.limits,
        config=await config_of(parts, caller.user_id),
        trace=trace_of(request),
        is_detached=asked.is_detached,
        client_tools=asked.tools,
        headers=headers_of(request, parts),
    )
