"""What `HttpAgent` sends: the thread as the client has it, its tools, and what was decided."""

import time
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from oracle.agent.client_tools import client_answer, read_tools
from oracle.core.errors import UserError
from oracle.runs.storage.interrupts import Delivery, KeptInterrupt
from oracle.server.connect.base.bodies import ClientBody, Items
from oracle.server.connect.base.chain import ClientQuestion, Said
from oracle.server.connect.base.returning import delivery, result_of_call

_NOT_DONE = "The user has not run this."
_HOW_APPROVED = "an approval is answered with the payload true, false, or {approved, arguments, comment}"


class AgUiMessage(BaseModel, strict=True):
    """A message as the client has it; those of other roles are left alone."""

    id: str = ""
    role: str = ""
    content: Any = None
    toolCallId: str | None = None  # noqa: N815  the protocol's name, as all here

    @property
    def text(self) -> str:
        """Its text, without what is no text in it."""
        if not isinstance(self.content, list):
            return self.content if isinstance(self.content, str) else ""
        return "\n".join(str(part.get("text", "")) for part in self.content if _type_of(part) == "text")


class AgUiTool(BaseModel, strict=True):
    """A tool that the client runs."""

    name: str
    description: str = ""
    input_schema: dict[str, Any] | None = Field(default=None, alias="parameters")


class ResumeEntry(BaseModel, strict=True):
    """What became of an interrupt."""

    interruptId: str  # noqa: N815
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class Forwarded(BaseModel, strict=True):
    """Properties that the page hands through."""

    tree: str | None = None
    model: str | None = None


class RunAgentInput(ClientBody):
    """The body of `POST /agui`; fields that are not known are left alone."""

    threadId: Annotated[str, Field(min_length=1, max_length=1_000)]  # noqa: N815
    runId: Annotated[str, Field(min_length=1, max_length=200)]  # noqa: N815
    messages: Items[AgUiMessage]
    tools: Items[AgUiTool] = Field(default_factory=list)
    state: Any = None
    resume: Items[ResumeEntry] = Field(default_factory=list)
    forwardedProps: Forwarded | None = None  # noqa: N815

    @property
    def question(self) -> AgUiMessage | None:
        """The message that is asked; `None`: the last one is not the user's."""
        return self.messages[-1] if self.messages and self.messages[-1].role == "user" else None

    @property
    def results(self) -> dict[str, str]:
        """The results of calls with which the messages end, by the ids of the calls."""
        last = list(takewhile(lambda each: each.role == "tool", reversed(self.messages)))
        return {each.toolCallId: each.text for each in reversed(last) if each.toolCallId is not None}

    def asked(self) -> ClientQuestion:
        """The question.

        Raises:
            UserError: there is none, or it has something that is no text.
            ClientToolError: a tool cannot be offered.
        """
        last = self.question
        if last is None:
            raise UserError("the last message is the user's, or gives results", loc=("body", "messages"))
        if isinstance(last.content, list) and any(_type_of(part) != "text" for part in last.content):
            raise UserError("files cannot be read; ask with text alone", loc=("body", "messages"))
        props = self.forwardedProps or Forwarded()
        before = self.messages[:-1]
        system = [each.text for each in before if each.role in ("system", "developer")]
        said = tuple(
            Said("user" if each.role == "user" else "assistant", each.text)
            for each in before
            if each.role in ("user", "assistant")
        )
        return ClientQuestion(
            last.text,
            said,
            conversation=self.threadId,
            tree=props.tree,
            model=props.model,
            tools=read_tools([each.model_dump() | {"input_schema": each.input_schema or {}} for each in self.tools]),
            instructions="\n".join(system) or None,
            is_whole=bool(said),  # a page that was loaded anew goes on in its thread
        )

    def is_new(self, question: str) -> bool:
        """Whether the user has asked something else in the place of answering what is open."""
        last = self.question
        cancels = all(entry.status == "cancelled" for entry in self.resume)
        return last is not None and cancels and last.text.split() != question.split()


def decisions(body: RunAgentInput, kept: Mapping[str, KeptInterrupt]) -> Iterator[Delivery]:
    """What the client has decided, and the results that it gives.

    Args:
        body: has what became of interrupts, and the results of calls.
        kept: what the run has asked, by id.

    Raises:
        UserError: it has asked nothing of the kind, or cannot be answered so.
        RequestValidationError: an answer is too large, or no data.
    """
    results = body.results
    for entry in body.resume:
        found = kept.get(entry.interruptId)
        if found is None:
            raise UserError("nothing is asked under this id", loc=("body", "resume"), value=entry.interruptId)
        if entry.status == "resolved":
            yield delivery(found.id, **_resolved(found, entry.payload))
        elif found.status not in ("expired", "withdrawn") and (found.answered_by or found.expires_at > time.time()):
            yield _cancelled(found)
    for each in kept.values():
        call_id = str(each.data.get("tool_call_id"))
        if each.reason == "input_required" and call_id in results:
            yield delivery(each.id, **result_of_call(results[call_id]))


def _resolved(found: KeptInterrupt, payload: Any) -> dict[str, Any]:  # noqa: ANN401  JSON data
    given = payload if isinstance(payload, dict) else {}
    if found.reason == "input_required":
        if "tool_call_id" in found.data:
            return result_of_call(given.get("output", payload), is_error=given.get("is_error") is True)
        return {"decision": "answer", "answer": payload}
    comment, approved = given.get("comment"), given.get("approved", payload)
    if type(approved) is not bool:
        raise UserError(_HOW_APPROVED, loc=("body", "resume", "payload"), value=payload)
    arguments = given.get("arguments", given.get("editedArgs"))
    if approved and arguments is not None and arguments != found.data.get("arguments"):
        return {"decision": "edit", "arguments": arguments, "comment": comment}
    return {"decision": "approve" if approved else "refuse", "comment": comment}


def _cancelled(found: KeptInterrupt) -> Delivery:
    if "refuse" in found.data["may"]:
        return Delivery(found.id, "refuse")
    return Delivery(found.id, "answer", answer=client_answer(_NOT_DONE, is_error=True))


def _type_of(part: object) -> object:
    return part.get("type") if isinstance(part, dict) else None
