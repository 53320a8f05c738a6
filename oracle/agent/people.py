"""The questions of a query to people, and their decisions.

Rules:

- What is asked has an id of the run and a number, so that a run which is repeated asks the same.
- Answers come as deliveries of the blackboard key `answers`: a mapping from the id to the decision. One counts once,
  and only while it is waited for. A decision that was not possible counts as a refusal.
- A person is not asked again about a refused call in the same query: the same call gets the same refusal.
- Text from people is treated like a tool's: bounded, and neutralised where the model reads it.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, Self

from bt_runtime.text import iso
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import clipped
from oracle.agent.output import Output
from oracle.agent.run import AgentRun
from oracle.core.chunks import (
    STATUSES,
    Answered,
    ApprovalRequested,
    Decision,
    Interrupt,
    InterruptReason,
    InterruptStatus,
    QuestionAsked,
)
from oracle.core.encoding import to_json
from oracle.decision import canonical_arguments
from oracle.llm.protocol import ToolUse
from oracle.tools.protocol import ToolResult
from oracle.tools.text import bounded
from signals import as_plain_text

LONGEST_COMMENT: Final = 2_000
_ALWAYS: Final = ("refuse", "expire", "withdraw")
"""Decisions that need not be among those that a person may make."""
_NOT_AGAIN: Final = "Do not ask for the same call again."

ANSWERED_WITHIN_S: Final = 600.0
"""How long the client may take to answer a call; the deadline of the query stands still meanwhile."""

RESULT_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"output": {"type": "string"}, "is_error": {"type": "boolean"}},
    "required": ["output"],
    "additionalProperties": False,
}
"""The size of a client's answer to a call."""
_LATE: Final = f"Not answered: the user's application gave no result within {ANSWERED_WITHIN_S:.0f} s."
_GONE: Final = "Not answered: the user's application is not asked any more."


class Terms(NamedTuple):
    """Who may decide, and until when.

    Args:
        expires_s: how long they may take; `None`: without end.
        on_expiry: the decision after that time: refused, the question's default, or an error.
    """

    answerers: Literal["user", "operator", "not_asker"]
    expires_s: float | None
    on_expiry: Literal["refuse", "default", "fail"]


_NOBODY: Final = Terms("user", None, "refuse")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided.

    Args:
        interrupt: the interrupt with its status after the decision.
        answer: the answer to a question, as JSON data.
        arguments: those that a person has put in place of the call's; `None`: they stay.
    """

    interrupt: Interrupt
    answer: Any = None
    arguments: Mapping[str, Any] | None = None
    comment: str = ""

    @property
    def status(self) -> InterruptStatus:
        """How it stands."""
        return self.interrupt.status

    @property
    def allows(self) -> bool:
        """Whether what was asked for may be done."""
        return self.status in ("approved", "edited")

    def refusal(self) -> str:
        """The result of a call that it does not allow."""
        if self.status == "refused":
            said = f" They said: {self.comment}" if self.comment else ""
            return f"Not run: a person refused this call.{said}\n{_NOT_AGAIN}"
        if self.status == "expired":
            return f"Not run: nobody answered in time whether this call may be made. {_NOT_AGAIN}"
        return "Not run: nobody can be asked any more whether this call may be made."


@dataclass(slots=True)
class People:
    """The questions of one query to people.

    Args:
        run_id: names what is asked.
        output: sends it.
        grants: the names of the tools that a person has allowed for the conversation.
        asked: the number of approvals and questions so far.
        refusals: the results of refused calls, by what identical calls have in common.
        refused: how many calls were refused, repeated ones among them.
    """

    run_id: str
    output: Output
    grants: frozenset[str] = frozenset()
    asked: int = 0
    refusals: dict[Hashable, str] = field(default_factory=dict)
    refused: int = 0
    _given: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _heard: object = None

    @classmethod
    def of(cls, run: AgentRun) -> Self:
        """The questions of a query, none asked yet (`AgentRun.part`)."""
        return cls(run.query.run_id, run.output, frozenset(run.query.grants))

    def ask(
        self,
        reason: InterruptReason,
        message: str,
        terms: Terms,
        *,
        may: Sequence[Decision],
        schema: Mapping[str, Any] | None = None,
        call: ToolUse | None = None,
        tool: str | None = None,
        read: Sequence[str] = (),
    ) -> str:
        """Ask, and return the id of what was asked.

        Args:
            reason: what kind of decision it is.
            message: the text that the person reads.
            terms: who may decide, and until when.
            may: the decisions that are possible.
            schema: JSON Schema of the answer, or of the call's arguments where these may be edited.
            call: the call that waits for it.
            tool: the name of the tool that is run if it is approved; `None`: that of the call.
            read: the names of what was read that the call may be made of.
        """
        made = self._made(reason, message, terms, call=call, tool=tool)
        made = replace(made, may=tuple(may), response_schema=schema or {}, read_before=tuple(read) or None)
        self.output.ask(QuestionAsked(made) if reason == "input_required" else ApprovalRequested(made))
        return made.id

    def use_grant(self, tool: str, terms: Terms, call: ToolUse | None = None) -> bool:
        """Whether the user has allowed the tool for the conversation; the user sees then that this is approved.

        Args:
            tool: its name.
            terms: who may decide; a user's grant does not replace another person's decision.
            call: the call of the model; `None`: the tree calls it.
        """
        if tool not in self.grants or terms.answerers != "user":
            return False
        reason: InterruptReason = "confirmation" if call is None else "tool_call"
        made = self._made(reason, f"{tool} is allowed in this conversation.", _NOBODY, call=call, tool=tool)
        self.output.answer_person(Answered(replace(made, status="approved")))
        return True

    def hear(self, answers: Mapping[str, Any] | None) -> None:
        """Take the decisions that have come; those that nothing waits for are ignored."""
        if answers is None or answers is self._heard:
            return
        self._heard = answers
        for interrupt_id, given in answers.items():
            if interrupt_id in self.output.pending and isinstance(given, Mapping):
                self._given.setdefault(interrupt_id, given)

    def decided(self, interrupt_id: str) -> Verdict | None:
        """The decision, returned once; `None` if there is none yet."""
        given, interrupt = self._given.pop(interrupt_id, None), self.output.pending.get(interrupt_id)
        if given is None or interrupt is None:
            return None
        decision, arguments = given.get("decision"), given.get("arguments")
        if decision not in (*interrupt.may, *_ALWAYS) or (decision == "edit" and not isinstance(arguments, Mapping)):
            decision = "refuse"
        arguments = arguments if decision == "edit" else None
        answer = given.get("answer") if decision == "answer" else None
        comment = as_plain_text(str(given.get("comment") or ""))[:LONGEST_COMMENT]
        settled = replace(
            interrupt, status=STATUSES[decision], answered_by=given.get("by"), answered_at=given.get("at")
        )
        verdict = Verdict(settled, answer, arguments, comment)
        is_grant = settled.status == "approved" and given.get("for") == "conversation"
        if is_grant and settled.answerers == "user" and settled.tool_name:
            self.grants |= {settled.tool_name}
        self.output.answer_person(Answered(settled, answer=answer, arguments=arguments, comment=comment or None))
        return verdict

    def _made(
        self, reason: InterruptReason, message: str, terms: Terms, *, call: ToolUse | None, tool: str | None
    ) -> Interrupt:
        self.asked += 1
        until = None
        if terms.expires_s is not None:
            until = iso(datetime.fromisoformat(self.output.timestamp()) + timedelta(seconds=terms.expires_s))
        made = Interrupt(
            f"{self.run_id}.{self.asked}", reason, as_plain_text(message), (), {}, terms.on_expiry, terms.answerers
        )
        if call is None:
            return replace(made, tool_name=tool, expires_at=until)
        digest = sha256(canonical_arguments(call.arguments).encode(errors="replace")).hexdigest()
        made = replace(made, tool_call_id=call.id, tool_name=call.name, expires_at=until)
        return replace(made, arguments=call.arguments, arguments_digest=f"sha256:{digest}")


def edited(run: AgentRun, call: ToolUse, arguments: Mapping[str, Any] | None) -> ToolUse:
    """A call with the arguments of a person, about which its result informs the model; `None`: they stay."""
    if arguments is None:
        return call
    shown = clipped(to_json(arguments).decode(), LONGEST_COMMENT)
    run.call_notes[call.id] = f"A person has changed the arguments of this call before it was run, to: {shown}\n\n"
    return replace(call, arguments=arguments)


def ask_client(people: People, call: ToolUse) -> str:
    """Put a call to the client; returns the id of the question."""
    terms = Terms("user", ANSWERED_WITHIN_S, "refuse")
    message = f"The application is to run {call.name}."
    return people.ask("input_required", message, terms, may=("answer",), schema=RESULT_SCHEMA, call=call)


def client_answer(output: str, *, is_error: bool = False) -> dict[str, Any]:
    """The answer to the question of a call (`Delivery.answer`): of bounded length, like the result of any tool."""
    return {"output": bounded(output), "is_error": is_error}


def client_result(verdict: Verdict) -> ToolResult:
    """The result of a call, by the outcome of its question."""
    if verdict.status != "answered":
        return ToolResult(_LATE if verdict.status == "expired" else _GONE, is_error=True)
    given = verdict.answer if isinstance(verdict.answer, Mapping) else {"output": verdict.answer}
    output = given.get("output")
    text = bounded(output if isinstance(output, str) else to_json(output).decode())
    return ToolResult(text, is_error=given.get("is_error") is True, is_empty=not text.strip())
