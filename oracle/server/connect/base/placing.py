"""Where a client's question stands among what was said: in a conversation, in a fork of it, or in a new one.

Rules:

- It follows the run of the longest known beginning of what the client says was said. Without a name of the conversation
  the client's copy of that run's answer must be ours, or the beginning of one that did not complete.
- Is that the last run of its conversation, the question goes on there; one that is still running and that nobody reads
  is cancelled first. Otherwise the client has gone back, and the question is asked in a fork.
- Clients that keep a name leave out what has become too long: then what they say is looked for at any place.
- A name of which nothing is known may be of a conversation that began without it: then what was said finds it.
- Where nothing is known a conversation begins with what the client says was said.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from bt_runtime.text.data import dataclass
from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.agent.people import client_answer
from oracle.core.chunks import Answer
from oracle.core.encoding import to_json
from oracle.runs.storage.client_runs import KnownRuns
from oracle.runs.storage.conversations import AskedBefore
from oracle.runs.storage.interrupts import Answerer, Delivery
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.seeding import Told
from oracle.server.api.access import find_run, with_texts
from oracle.server.api.auth import Caller
from oracle.server.api.forking import fork
from oracle.server.api.parts import ServiceParts
from oracle.server.api.people import DeliveryBody
from oracle.server.api.reading import logged
from oracle.server.connect.base.chain import Chain, ClientQuestion, chain_of, plain

_MOST_COMPARED = 20  # runs whose answers are compared with the client's copies
_MOST_SEARCHED = 10  # conversations of a name; the latest


class PlaceFound(NamedTuple):
    """A conversation for a question.

    Args:
        context_id: `None`: one that is created with the run.
        is_made: it was made for the question, and is of no use without it.
    """

    context_id: str | None
    is_made: bool = False


class _Followed(NamedTuple):
    """What a question follows.

    Args:
        context_id: the conversation.
        before: the run that comes next there so far; `None`: none does.
    """

    context_id: str
    before: str | None


@dataclass(frozen=True, slots=True)
class Placing:
    """Places one question of a user.

    Args:
        parts: the service's parts.
        user_id: the user whose conversations count.
        protocol: the name of the adapter.
        asked: the question.
        chain: where it stands.
    """

    parts: ServiceParts
    user_id: str
    protocol: str
    asked: ClientQuestion
    chain: Chain

    async def place(self, known: KnownRuns) -> PlaceFound:
        """Find or make the conversation of the question.

        Raises:
            NotFoundError, ForgottenRunError: there is no such run to be followed.
            StoreUnavailableError: the database cannot be used at present.
        """
        if known.latest is None and self.asked.conversation is not None and self.chain.before:  # it is named only now
            asked = replace(self.asked, conversation=None)
            chain = chain_of(asked, user_id=self.user_id, protocol=self.protocol)
            known = await self.parts.store.client_runs.known(chain.key, chain.before)
            return await replace(self, asked=asked, chain=chain).place(known)
        followed = await self._followed(known)
        if followed is None:
            told = [Told(each.role, each.text) for each in self.asked.said]
            if not any(plain(each.text) for each in told):
                return PlaceFound(None)
            return PlaceFound(await self.parts.store.conversations.begin_told(self.user_id, told), is_made=True)
        if followed.before is None:
            under_way = await self.parts.store.runs.open_of(followed.context_id)
            if under_way is not None:
                await self.parts.runs.supersede(under_way)
            return PlaceFound(followed.context_id)
        try:
            made = await fork(self.parts, self.user_id, followed.context_id, before_run=followed.before)
        except UnknownConversationError:  # forgotten at this moment
            return PlaceFound(None)
        return PlaceFound(made.context_id, is_made=True)

    async def discard(self, place: PlaceFound) -> None:
        """Delete a conversation that was made for a question which is not asked."""
        if place.is_made and place.context_id is not None:
            await self.parts.store.conversations.forget(self.user_id, place.context_id)

    async def _followed(self, known: KnownRuns) -> _Followed | None:
        if self.asked.after_run is not None:
            run = with_texts(await find_run(self.asked.after_run, self.parts, user_id=self.user_id))
            return await self._behind(run)
        latest = None if known.latest is None else await self.parts.store.runs.find(known.latest.run_id)
        if not self.asked.is_whole and latest is not None:
            return (
                _Followed(latest.context_id, before=latest.id) if self.asked.is_forked else await self._behind(latest)
            )
        found = await self._known_beginning(known)
        before = self.chain.before
        if self.chain.is_named and before and before[-1] not in known.runs:
            # What was asked behind a cut history is known by that alone, until the client shows all of it again.
            followed = await self._in_the_middle()
            if followed is not None:
                return followed
        return None if found is None else await self._behind(found)

    async def _behind(self, run: RunRecord) -> _Followed:
        return _Followed(run.context_id, before=await self.parts.store.client_runs.followed(run.id))

    async def _known_beginning(self, known: KnownRuns) -> RunRecord | None:
        chain = self.chain
        compared = 0
        for digest, copy in zip(reversed(chain.before), reversed(chain.answers), strict=True):
            candidates = known.runs.get(digest, [])[: _MOST_COMPARED - compared]
            compared += len(candidates)
            found = [run for each in candidates if (run := await self.parts.store.runs.find(each.run_id)) is not None]
            for run in found:
                if await self._is_answer_of(run, copy):
                    return run
            if found and chain.is_named:
                return found[0]
        return None

    async def _is_answer_of(self, run: RunRecord, copy: str) -> bool:
        if run.status != "finished":
            answer = Answer()
            async for _, chunk in logged(self.parts, run.id):
                answer.add(chunk)
            return plain(answer.text).startswith(copy)
        if run.answer is None:  # it was deleted
            return False
        ours = plain(run.answer)
        return ours == copy or (run.termination_reason != "completed" and ours.startswith(copy))

    async def _in_the_middle(self) -> _Followed | None:
        """The place behind the user's texts in a conversation of the same name, wherever they begin there."""
        store = self.parts.store
        texts = [text for each in self.asked.said if each.role == "user" and (text := plain(each.text))]
        for context_id in await store.client_runs.conversations(self.chain.key, limit=_MOST_SEARCHED):
            asked = list(await store.conversations.asked(self.user_id, context_id))
            under_way = await store.runs.open_of(context_id)
            if under_way is not None:
                asked.append(AskedBefore(under_way.id, str(under_way.input.get("question", ""))))
            for end in range(len(asked), len(texts) - 1, -1):
                if [plain(each.question) for each in asked[end - len(texts) : end]] == texts:
                    return _Followed(context_id, before=asked[end].run_id if end < len(asked) else None)
        return None


async def latest_run(conversation: str, parts: ServiceParts, caller: Caller, *, protocol: str) -> RunRecord | None:
    """The last run of the caller's conversation of this name; `None`: there is none."""
    named = chain_of(ClientQuestion("", conversation=conversation), user_id=caller.user_id, protocol=protocol)
    latest = (await parts.store.client_runs.known(named.key, ())).latest
    return None if latest is None else await parts.store.runs.find(latest.run_id, user_id=caller.user_id)


def delivery(interrupt_id: str, *, place: Sequence[str | int] = (), **said: Any) -> Delivery:  # noqa: ANN401  JSON data
    """What a client has decided, as the service's own call checks it.

    Args:
        interrupt_id: the id of the approval or question.
        place: what is wrong of the request where that is; empty: the field.
        said: the fields of `DeliveryBody`.

    Raises:
        RequestValidationError: it is too large, or no data.
    """
    try:
        return Delivery(**DeliveryBody(id=interrupt_id, **said).model_dump())
    except ValidationError as error:
        mistakes = error.errors(include_url=False, include_context=False)
        raise RequestValidationError([{**each, "loc": place or each["loc"]} for each in mistakes]) from None


def result_of_call(output: Any, *, is_error: bool = False) -> dict[str, Any]:  # noqa: ANN401  JSON data
    """What a tool of the client has returned, as a decision: data are JSON text."""
    text = output if isinstance(output, str) else to_json(output).decode()
    return {"decision": "answer", "answer": client_answer(text, is_error=is_error)}


async def deliver(run: RunRecord, decided: Sequence[Delivery], parts: ServiceParts, caller: Caller) -> None:
    """Keep what was decided, all of it or nothing, and have the run go on.

    Raises:
        AnswerError: one decision is refused.
        StoreUnavailableError: nothing can be written at present.
    """
    if decided:
        by = Answerer(caller.user_id, is_operator=caller.is_operator)
        await parts.store.interrupts.answer(run.id, decided, by=by)
