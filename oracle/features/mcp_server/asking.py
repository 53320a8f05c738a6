"""The tool `ask`: runs a question to its end, or until people have to decide something.

Rules:

- Progress messages report tool calls and notices, never pieces of text. Its first message names the run, so that a
  client that loses the connection can ask for the same run again (`run_id`).
- If only the user has to decide, the client is asked, if it can show a form. In 2026-07-28 its answer comes with the
  same call again, and a sealed state that names the run and what was asked. In 2025-11-25 it is a request of the server
  within the call, where the connection carries one. Approvals apply to the stored call.
- Everything else that waits is named in the result, with where it can be decided.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple, cast

import mcp_types as types
from anyio import CancelScope
from mcp.server.context import ServerRequestContext
from mcp_types import CallToolResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from bt_runtime import TreeFileError
from bt_runtime.text.phrases import clipped
from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.core.chunks import Answer, Chunk, Interrupt, SystemNotice, TerminationReason, ToolCalled
from oracle.core.encoding import from_json, to_json
from oracle.core.errors import OracleError
from oracle.runs.storage.interrupts import Delivery, KeptInterrupt, NotOpenError
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.run_pages import RunFilter
from oracle.server.api.access import conversation_id, find_run, with_texts
from oracle.server.api.auth import Caller
from oracle.server.api.errors import told
from oracle.server.api.parts import ServiceParts
from oracle.server.connect.base.asking import begin
from oracle.server.connect.base.chain import ClientQuestion
from oracle.server.connect.base.placing import deliver
from oracle.server.connect.base.streaming import folded

Context = ServerRequestContext[Any, Any]
CallAnswer = CallToolResult | InputRequiredResult
"""The answer to a tool call."""


class McpVisit(NamedTuple):
    """A message, its sender, and the service that is called.

    Args:
        context: the SDK's context of the message.
        parts: the service's parts.
        caller: whose runs and conversations are reached.
        request: its headers may name a trace.
        ends_with_request: a request that ends early cancels its run, because that is how its protocol cancels.
        is_alone: the runs are in a database of this process alone, so only this client can decide what they ask.
    """

    context: Context
    parts: ServiceParts
    caller: Caller
    request: Request
    ends_with_request: bool
    is_alone: bool = False


_LONGEST_TOLD: Final = 300
_LONGEST_SHOWN: Final = 4_000
_MOST_LISTED: Final = 30
_WAYS: Final = "They decide in the console, or with `oracle pending --answer`."
_NO_WAY: Final = (
    "This client shows no forms, and nothing else reaches this process: ask a running `oracle serve` at its "
    "address /mcp; its console and `oracle pending --answer` decide."
)
_SIMPLE: Final = ("string", "integer", "number", "boolean")
_FIELD = ("type", "title", "description", "default", "enum", "format", "minLength", "maxLength", "minimum", "maximum")
"""The types that a form's field may have."""


class AskArguments(BaseModel):
    """The arguments of `ask`."""

    model_config = ConfigDict(extra="forbid")

    question: str | None = Field(None, description="The question, in plain language. Needed unless `run_id` is given.")
    conversation: str | None = Field(None, description="`context_id` of an earlier result: the question goes on there.")
    tree: str | None = Field(None, description="The control that answers; see the resources `oracle://trees/…`.")
    model: str | None = Field(None, description="The model that answers; left out: the configured one.")
    run_id: str | None = Field(None, description="In place of a question: a run whose answer is still to be had.")


class AskResult(BaseModel):
    """The result of `ask`."""

    answer: str = Field(description="As far as it has come.")
    sources: list[dict[str, Any]] = Field(description="`path`, `source_type`, and where known `line` and `snippet`.")
    notices: list[str] = Field(description="What the service has to say about the answer, such as limits.")
    run_id: str
    context_id: str = Field(description="The conversation to go on in.")
    termination_reason: TerminationReason | None = Field(description="Why it ended; null while it waits for people.")
    tokens_used: int | None
    waits_for: list[dict[str, Any]] = Field(description="What people have to decide before it can go on.")
    error: str | None = Field(description="What went wrong.")


ASK: Final = types.Tool(
    name="ask",
    title="Ask Oracle",
    description="Ask a question about the project, its code and its notes. The answer rests on the sources it names.",
    input_schema=AskArguments.model_json_schema(),
    output_schema=AskResult.model_json_schema(),
)


async def ask(visit: McpVisit, params: types.CallToolRequestParams) -> CallAnswer:
    """Answer a call of the tool."""
    try:
        given = AskArguments.model_validate(params.arguments or {})
        if (given.question is None) == (given.run_id is None):
            return failed("give either 'question' or 'run_id'")
        if params.request_state is None:
            return await _followed(visit, await _run_of(visit, given), seen=0, may_ask=True)
        state = from_json(params.request_state)
        run = await find_run(state["run"], visit.parts, user_id=visit.caller.user_id)
        has_decided = await _decide(visit, run, state["asked"], params.input_responses or {})
        return await _followed(visit, run, seen=state["seen"], may_ask=has_decided)
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:5])
        return failed("; ".join(wrong))
    except TreeFileError:
        return failed("this tree has mistakes and cannot be run")
    except OracleError as error:
        return failed("The service cannot do this." if error.status is None else told(error))


def failed(message: str) -> types.CallToolResult:
    """A call that has no result."""
    return types.CallToolResult(content=[types.TextContent(text=message[:_LONGEST_SHOWN])], is_error=True)


async def _run_of(visit: McpVisit, given: AskArguments) -> RunRecord:
    parts, user_id = visit.parts, visit.caller.user_id
    if given.run_id is not None:
        return with_texts(await find_run(given.run_id, parts, user_id=user_id))
    after = None
    if given.conversation is not None:
        wanted = RunFilter(user_id=user_id, context_id=await conversation_id(given.conversation))
        found = (await parts.store.runs.page(wanted, limit=1)).runs
        if not found:
            raise UnknownConversationError(given.conversation)
        after = found[0].id
    asked = ClientQuestion(given.question or "", after_run=after, tree=given.tree, model=given.model, is_whole=False)
    return (await begin(asked, visit.request, parts, visit.caller, protocol="mcp")).run


async def _followed(visit: McpVisit, run: RunRecord, *, seen: int, may_ask: bool) -> CallAnswer:
    """The result of a run, whose progress is reported meanwhile."""
    progress: asyncio.Queue[tuple[float, str]] = asyncio.Queue()
    progress.put_nowait((seen + 0.5, f"run {run.id}"))
    last = 0

    def heard(n: int, chunk: Chunk) -> None:
        nonlocal last
        last = n
        if n > seen and (message := _told(chunk)):
            progress.put_nowait((n + 1, clipped(message, _LONGEST_TOLD)))

    async def tell() -> None:
        with suppress(Exception):  # the client has gone
            while True:
                done, message = await progress.get()
                await visit.context.session.report_progress(done, message=message)

    telling = asyncio.create_task(tell())
    try:
        answer = await folded(None, visit.parts, run, heard=heard) or Answer()
    except asyncio.CancelledError:
        if visit.ends_with_request:
            with CancelScope(shield=True):
                await visit.parts.runs.cancel(run)
        raise
    finally:
        telling.cancel()
    forms = {each.id: _form(each) for each in answer.pending if each.answerers == "user"}
    if forms and may_ask and _shows_forms(visit.context):
        if visit.context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            state = to_json({"run": run.id, "asked": list(forms), "seen": last}).decode()
            return types.InputRequiredResult(input_requests=dict(forms), request_state=state)
        if visit.context.session.can_send_request:
            has_decided = await _decide(visit, run, list(forms), await _shown(visit.context, forms))
            return await _followed(visit, run, seen=last, may_ask=has_decided)
    return _result(visit, run, answer)


def _shows_forms(context: Context) -> bool:
    can = getattr(context.session.client_capabilities, "elicitation", None)
    return can is not None and (can.form is not None or can.url is None)


async def _shown(context: Context, forms: Mapping[str, types.ElicitRequest]) -> dict[str, types.ElicitResult]:
    """The user's answers to the forms, one after the other."""
    asked = {key: cast("types.ElicitRequestFormParams", form.params) for key, form in forms.items()}
    show = context.session.elicit_form
    return {key: await show(each.message, each.requested_schema, context.request_id) for key, each in asked.items()}


def _told(chunk: Chunk) -> str | None:
    if isinstance(chunk, ToolCalled):
        return f"{chunk.tool_call.name} {to_json(chunk.tool_call.arguments).decode()}"
    return chunk.system_message if isinstance(chunk, SystemNotice) else None


def _form(asked: Interrupt) -> types.ElicitRequest:
    shown, wanted = asked.message, asked.response_schema
    if asked.arguments is not None:
        shown += f"\n\n{asked.tool_name} {clipped(to_json(asked.arguments).decode(), _LONGEST_SHOWN)}"
    name, field = "decision", {"type": "string", "enum": [each for each in asked.may if each != "edit"]}
    if "answer" in asked.may:
        name, field = "answer", {"type": "string"}
        if _is_of_data(wanted):
            shown += f"\n\nThe answer is JSON of this form: {clipped(to_json(wanted).decode(), _LONGEST_SHOWN)}"
        else:
            field |= {key: wanted[key] for key in _FIELD if key in wanted}
    schema = {"type": "object", "properties": {name: field}, "required": [name]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=shown, requested_schema=schema))


def _is_of_data(schema: Mapping[str, Any]) -> bool:
    """Whether what fits is more than a field of a form can have."""
    return bool(schema) and schema.get("type") not in _SIMPLE


async def _decide(visit: McpVisit, run: RunRecord, asked: list[str], responses: Mapping[str, Any]) -> bool:
    """Deliver the user's decisions; returns whether there were any."""
    kept = await visit.parts.store.interrupts.of_run(run.id)
    decided = [each for key in asked if key in kept and (each := _delivery(kept[key], responses.get(key)))]
    for each in decided:
        with suppress(NotOpenError):  # the run goes on without it, or with another answer
            await deliver(run, [each], visit.parts, visit.caller)
    return bool(decided)


def _delivery(kept: KeptInterrupt, given: object) -> Delivery | None:
    may = kept.data.get("may", ())
    match given:
        case types.ElicitResult(action="accept", content=content) if "answer" in may:
            answer: Any = (content or {}).get("answer")
            if isinstance(answer, str) and _is_of_data(kept.data.get("response_schema") or {}):
                with suppress(ValueError):
                    answer = from_json(answer)
            return Delivery(kept.id, "answer", answer=answer)
        case types.ElicitResult(action="accept", content=content):
            return Delivery(kept.id, "approve" if content and content.get("decision") == "approve" else "refuse")
        case types.ElicitResult(action="decline") if "refuse" in may:
            return Delivery(kept.id, "refuse")
    return None


def _result(visit: McpVisit, run: RunRecord, answer: Answer) -> types.CallToolResult:
    done, error = answer.done, None if answer.failed is None else answer.failed.error
    result = AskResult(
        answer=answer.text,
        sources=[each.to_wire() for each in answer.sources],
        notices=[each.system_message for each in answer.notices],
        run_id=run.id,
        context_id=run.context_id,
        termination_reason=None if done is None else done.termination_reason,
        tokens_used=None if done is None else done.tokens_used,
        waits_for=[each.to_wire() for each in answer.pending] if done is None else [],
        error=error,
    )
    texts = [answer.text or error or ""]
    if sources := [f"- {each.path}:{each.line}" if each.line else f"- {each.path}" for each in answer.sources]:
        texts.append("\n".join(["Sources:", *sources[:_MOST_LISTED]]))
    if result.waits_for:
        waits = "; ".join(f"{each.message!r}" for each in answer.pending)
        way = _NO_WAY if visit.is_alone else f"{_WAYS} Then call `ask` with the run_id {run.id!r}."
        texts.append(f"It waits for people to decide: {waits}. {way}")
    return types.CallToolResult(
        content=[types.TextContent(text=text) for text in texts if text],
        structured_content=result.model_dump(mode="json"),
        is_error=done is not None and done.termination_reason == "error",
    )
