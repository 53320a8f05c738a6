"""`begin`: the run that answers a client's request, in the conversation in which the client has asked it.

Rules:

- What a client says was said is compared with what was said, and not believed.
- A run that has come through an adapter is found again by `oracle.server.connect.base.chain`. A question after the last
  run of its conversation goes on in it.
- A request that is sent again gets the run of the first one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from starlette.requests import Request

from oracle.agent.answering import Ask
from oracle.agent.client_tools import ClientTool
from oracle.agent.control.choosing import DEFAULT_TREE
from oracle.runs.storage.client_runs import ClientRun, KnownRuns
from oracle.runs.storage.errors import ConversationMovedError, StoreUnavailableError
from oracle.runs.storage.records import Origin, RunRecord
from oracle.server.api.access import with_texts
from oracle.server.api.auth import Caller
from oracle.server.api.parts import ServiceParts
from oracle.server.api.queries import checked_model, trace_of
from oracle.server.api.user_limits import config_of
from oracle.server.connect.base.chain import Chain, Said, chain_of, plain

_MOST_TRIES = 5  # while other requests begin runs of the same conversation


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as any client's protocol has it.

    Args:
        question: the text of the user's last message.
        said: the client's history before it, oldest first, without what the adapter has put into answers.
        conversation: the client's own name of the conversation, opaque.
        after_run: a run of ours that this follows, and all before it.
        tree: the control; `None`: the default one.
        model: the provider's model; `None`: the configured one.
        limits: `AgentConfig` fields for this question.
        tools: those that the client runs.
        metadata: kept with the run (`input["metadata"]`).
        instructions: what the client's system messages say; ignored.
        is_detached: its run needs no reader.
        is_repeat: the client's library has sent the request before, and its answer was lost.
        is_forked: the last question is asked anew.
    """

    question: str
    said: tuple[Said, ...] = ()
    conversation: str | None = None
    after_run: str | None = None
    tree: str | None = None
    model: str | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[ClientTool, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    instructions: str | None = None
    is_detached: bool = False
    is_repeat: bool = False
    is_forked: bool = False


class Begun(NamedTuple):
    """A run, and whether an earlier request has begun it."""

    run: RunRecord
    is_earlier: bool


async def begin(asked: Asked, request: Request, parts: ServiceParts, caller: Caller, *, protocol: str) -> Begun:
    """Begin the run that answers a request, or find the one that an earlier request has begun.

    Args:
        asked: the question.
        request: its headers may name a trace.
        parts: of the service.
        caller: who asks.
        protocol: the name of the adapter; conversations of different ones do not meet.

    Raises:
        OracleError: the question is refused, as `RunManager.start` says, or the model may not be used.
    """
    chain = chain_of(
        asked.said,
        asked.question,
        user_id=caller.user_id,
        protocol=protocol,
        conversation=asked.conversation,
        after_run=asked.after_run,
    )
    seen: int | None = None
    for _ in range(_MOST_TRIES):
        known = await parts.store.client_runs.known(chain.key, (*chain.before, chain.said))
        same = known.runs.get(chain.said, [])
        # Of two that come at the same moment the second is taken for the first one, sent again.
        if same and (asked.is_repeat or (seen is not None and known.last_n > seen)):
            earlier = await parts.runs.begun(same[0].run_id)
            if earlier is not None:
                return Begun(with_texts(earlier), is_earlier=True)
        seen = known.last_n if seen is None else seen
        parts.load.admit()
        origin = Origin(chain.key, known.last_n + 1, chain.said, asked.metadata)
        followed = _followed(chain, known)
        ask = await _ask(asked, request, parts, caller)
        if followed is not None and followed.followed_by is None:
            ask = replace(ask, context_id=followed.context_id)
        try:
            return Begun((await parts.runs.start(ask, origin=origin)).record, is_earlier=False)
        except ConversationMovedError:
            continue
    raise StoreUnavailableError("other requests of the conversation came at the same moment, again and again")


def _followed(chain: Chain, known: KnownRuns) -> ClientRun | None:
    """The run that the question follows: that of the longest known beginning; `None`: nothing is known."""
    for digest, answer in zip(reversed(chain.before), reversed(chain.answers), strict=True):
        runs = known.runs.get(digest, [])
        same = [run for run in runs if run.answer is not None and plain(run.answer) == answer]
        if same or (runs and chain.is_named):
            return (same or runs)[0]
    return None


async def _ask(asked: Asked, request: Request, parts: ServiceParts, caller: Caller) -> Ask:
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
    )
