"""Tool calls: of the model (`run_tools`, `refuse_tools`, `hold_back_calls`), and of the tree (`action`)."""

from collections.abc import Coroutine, Hashable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final, Literal

from pydantic import Field, field_validator

from bt_runtime import ActionUse, ExpressionError, Facts, Figure, Kind, NodeSettings, Status, Stepped, Use, Words, node
from bt_runtime.kinds.action import CallAction, CallSettings
from bt_runtime.language.expressions.compiler import AnyName, Expression, compile_expression
from bt_runtime.language.kind import Case, TemplateText, leaf
from bt_runtime.nodes.context import Request
from bt_runtime.text.phrases import clipped, counted, listed
from oracle.agent.nodes.asking import AskingSettings, people_of, shown_text, wait_for_answer
from oracle.agent.nodes.base import AgentAction, AgentNode
from oracle.agent.nodes.flows import ANSWERING_CALLS, RUNNING_CALLS
from oracle.agent.nodes.roles import HOLDS_BACK_CALLS, REFUSES_CALLS, RUNS_CALLS
from oracle.agent.outcomes import CallResult, ToolsOutcome
from oracle.agent.people import People, ask_client, client_result, edited
from oracle.agent.run import AgentRun
from oracle.agent.steps import offer
from oracle.agent.tool_calls import (
    CANCELLED,
    NO_TURN_LEFT,
    answer_from_client,
    can_run,
    likeness,
    refuse,
    refuse_excess,
    refuse_open,
    run_tool_calls,
)
from oracle.llm.protocol import ToolUse

_WILD = frozenset("*?[")


@lru_cache(maxsize=256)
def _compiled(text: str) -> Expression:
    return compile_expression(text, names=AnyName())


class ApprovedCalls(NodeSettings):
    """Calls of tools that a person must approve.

    Args:
        tool: the name of the tool, or a pattern: `tickets.*`.
        when: an expression over the arguments of the call; `null`: any call. A missing argument is null, and where the
            expression cannot be evaluated the person is asked.
        writes: a label of where the tool writes; `null`: any tool is meant, whatever its labels.
        after: a label: meant are calls after something of it was read in this run; `null`: all.
    """

    tool: str = Field(min_length=1)
    when: str | None = None
    writes: Literal["outward"] | None = None
    after: Literal["private", "untrusted"] | None = None

    @field_validator("when")
    @classmethod
    def _expression(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                _compiled(value)
            except ExpressionError as error:
                raise ValueError(f"{value!r} is no expression: {error.message}") from None
        return value

    @property
    def is_exact(self) -> bool:
        """Whether it names one tool."""
        return _WILD.isdisjoint(self.tool)

    def covers(self, tool: str) -> bool:
        """Whether calls of the tool can be meant."""
        return fnmatchcase(tool, self.tool)

    def holds(self, call: ToolUse, agent: AgentRun) -> bool:
        """Whether this call is meant."""
        if not self.covers(call.name) or not self._flows(call, agent):
            return False
        if self.when is None:
            return True
        try:
            return bool(_compiled(self.when).evaluate(call.arguments.get))
        except ExpressionError:
            return True

    def _flows(self, call: ToolUse, agent: AgentRun) -> bool:
        """Whether the tool writes there, and something was read of what must not get there."""
        tools = agent.equipment.tools
        if self.writes is not None and self.writes not in tools.flows(call.name):
            return False
        return self.after is None or bool(self.sources(agent))

    def sources(self, agent: AgentRun) -> list[str]:
        """The names of what was read that must not get there; none if `after` does not say."""
        read = dict.fromkeys((*agent.query.read_before, *sorted(agent.state.tools_tried)))
        return [name for name in read if self.after in agent.equipment.tools.flows(name)]


class RunToolsSettings(AskingSettings):
    """Settings of `run_tools`.

    Args:
        approve: the calls to approve: tool names, patterns such as `tickets.*`, or `{tool: NAME, when: EXPRESSION}`; by
            labels of tools, `{tool: '*', writes: outward, after: untrusted}`.
        message: what the person reads; `{key}` shows a blackboard value.
        edits: whether the person may change the arguments.
        expires: how long an answer may take: `30m`, `12h`, `7d`; `null`: no limit.
        answered_by: who may answer: the asking `user`, an `operator`, or `{not: asker}`.
    """

    approve: list[str | ApprovedCalls] = Field(default_factory=list)
    message: TemplateText = Field(default="", max_length=4000)
    edits: bool = True

    @property
    def policy(self) -> tuple[ApprovedCalls, ...]:
        """Which calls a person must approve."""
        return tuple(ApprovedCalls(tool=each) if isinstance(each, str) else each for each in self.approve)

    def uses(self) -> Iterator[Use]:
        yield from super().uses()
        for index, (written, each) in enumerate(zip(self.approve, self.policy, strict=True)):
            if each.is_exact:
                at = ("approve", index) if isinstance(written, str) else ("approve", index, "tool")
                yield ActionUse(at, each.tool)


@node(
    "run_tools",
    settings=RunToolsSettings,
    facts=Facts(roles=(RUNS_CALLS,), shows=True, keeps=("_done", "_waiting")),
    flow=leaf(*RUNNING_CALLS),
)
class RunTools(AgentAction[RunToolsSettings]):
    """Runs the tool calls of the last turn in parallel, up to the user's limit.

    RUNNING while they run; then SUCCESS, even if a tool fails: the model gets its error. Each call runs once. A halt
    cancels them. Calls that match `approve`, or for which the operator requires approval, wait for a person; a
    refusal, or no answer in time, becomes the result of the call.

    ```yaml
    run_tools:
      approve: [vault_write, {tool: thread_push, when: "len(content) > 200"}]
    ```
    """

    _policy: tuple[ApprovedCalls, ...] = ()
    _done: tuple[CallResult, ...] = ()
    _parts: tuple[Request, ...] = ()
    """The requests that run a part of the calls."""
    _waiting: tuple[tuple[ToolUse, ...], ...] = ()
    """The calls that wait for a person, identical ones together, or for the client."""
    _asked: tuple[str, ...] = ()
    """What was asked about them."""
    _returning = 0
    """Requests of a halt that have not given back their results yet."""

    def attach(self, children: Any) -> None:  # noqa: ANN401, ARG002  a leaf
        self._policy = self.settings.policy

    def initialise(self) -> None:
        if self._policy or any(map(self._is_approved_first, self.agent.turn.open_calls)):
            self._done, self._parts, self._waiting, self._asked = (), (), (), ()
            self._divide(self.agent.turn.open_calls)

    def start(self) -> Coroutine[Any, Any, ToolsOutcome]:
        return run_tool_calls(self.agent, self.agent.turn.open_calls)

    def start_part(self, part: tuple[ToolUse, ...]) -> Coroutine[Any, Any, ToolsOutcome]:
        return run_tool_calls(self.agent, part)

    def update(self) -> Status:
        if not (self._parts or self._asked or self._done):
            return super().update()
        ended = [part.outcome for part in self._parts if part.outcome is not None]
        self._parts = tuple(part for part in self._parts if part.outcome is None)
        for outcome in ended:
            if outcome.state == "failed":
                return self.failed(outcome.error or "the task failed")
            self._take(outcome.value)
        if self._asked:
            self._take_answers()
            if not self._asked:
                self.run.forget_changes(self.index)
        return self._end()

    def _is_approved_first(self, call: ToolUse) -> bool:
        """Whether the operator demands that a person approves calls of the tool."""
        tool = self.agent.equipment.tools.get(call.name)
        return tool is not None and tool.needs_approval

    def _needs_person(self, call: ToolUse) -> bool:
        is_meant = self._is_approved_first(call) or any(each.holds(call, self.agent) for each in self._policy)
        return is_meant and can_run(self.agent, call)

    def _divide(self, calls: Sequence[ToolUse]) -> None:
        """Run what needs nobody, answer what was refused before, and ask about the rest."""
        agent, people, terms = self.agent, people_of(self), self.settings.terms()
        limit = agent.state.config.max_tool_calls_per_turn
        if not any(map(self._needs_person, calls[:limit])):
            return
        free: list[ToolUse] = []
        asking: dict[Hashable, tuple[ToolUse, ...]] = {}
        for call in calls[:limit]:
            like = likeness(call)
            # What the user has allowed before it was read what the call is made of does not cover it.
            is_flow = any(each.after and each.holds(call, agent) for each in self._policy)
            may_be_granted = like not in asking and not is_flow
            if not self._needs_person(call) or (may_be_granted and people.use_grant(call.name, terms, call)):
                free.append(call)
            elif like in people.refusals:
                people.refused += 1
                self._done += refuse(agent, (call,), people.refusals[like])
            else:
                asking[like] = (*asking.get(like, ()), call)
        self._done += refuse_excess(agent, calls)
        self._waiting = tuple(asking.values())
        self._asked = tuple(self._ask(same[0]) for same in self._waiting)
        self._post(free)

    def _ask(self, call: ToolUse) -> str:
        settings, tool = self.settings, self.agent.equipment.tools.get(call.name)
        meant = (each for each in self._policy if each.after and each.holds(call, self.agent))
        read = list(dict.fromkeys(name for each in meant for name in each.sources(self.agent)))
        asked = shown_text(self, settings.message) if settings.message else f"May {call.name} be run?"
        why = f" It may be made of what was read: {listed(read)}." if read else ""
        return self.agent.part(People.of).ask(
            "tool_call",
            f"{asked}{why}",
            settings.terms(),
            may=("approve", "refuse", "edit") if settings.edits else ("approve", "refuse"),
            schema=tool.input_schema if tool is not None and settings.edits else None,
            call=call,
            read=read,
        )

    def _take_answers(self) -> None:
        """Run what is approved now, and answer what is not."""
        people, approved = people_of(self), list[ToolUse]()
        left: dict[str, tuple[ToolUse, ...]] = {}
        for asked, same in zip(self._asked, self._waiting, strict=True):
            verdict = people.decided(asked)
            if verdict is None:
                left[asked] = same
            elif verdict.interrupt.reason == "input_required":
                self._done += (answer_from_client(self.agent, same[0], client_result(verdict)),)
            elif verdict.allows:
                approved += [edited(self.agent, call, verdict.arguments) for call in same]
            else:
                people.refusals[likeness(same[0])] = verdict.refusal()
                people.refused += len(same)
                self._done += refuse(self.agent, same, verdict.refusal())
        self._asked, self._waiting = tuple(left), tuple(left.values())
        self._post(approved)

    def _post(self, calls: Sequence[ToolUse]) -> None:
        if calls:
            self._requests += 1
            self._parts += (self.run.post(self, nth=self._requests, part=tuple(calls)),)

    def _take_results(self) -> ToolsOutcome:
        """The results so far, in the order of the calls."""
        results, self._done = {result.call.id: result for result in self._done}, ()
        return ToolsOutcome(tuple(results[call.id] for call in self.agent.turn.open_calls if call.id in results))

    def finish(self, value: ToolsOutcome) -> Status:
        self._take(value)
        return self._end()

    def _take(self, outcome: ToolsOutcome) -> None:
        """Keep results, and ask the client for those of its own tools."""
        asked = [result.call for result in outcome.results if result.is_asked]
        self._done += tuple(result for result in outcome.results if not result.is_asked)
        self._asked += tuple(ask_client(self.agent.part(People.of), call) for call in asked)
        self._waiting += tuple((call,) for call in asked)

    def _end(self) -> Status:
        """Apply the results when all are there."""
        if self._asked:
            wait_for_answer(self)
        if self._asked or self._parts:
            return Status.RUNNING
        self._apply()
        self.publish()
        return Status.SUCCESS

    def _apply(self) -> None:
        outcome = self._take_results()
        self.agent.apply_tools(outcome)
        if offers := [name for result in outcome.results for name in result.offers]:
            offer(self.agent, offers)

    def terminate(self, new_status: Status) -> None:
        super().terminate(new_status)
        if self._parts or self._asked or self._done:
            self._halt()

    def _halt(self) -> None:
        """Withdraw what was asked and what runs."""
        self.run.forget_changes(self.index)
        asked, parts, self._asked, self._parts = self._asked, self._parts, (), ()
        self.agent.output.withdraw(asked)
        self._returning = sum(part.started or part.is_held for part in parts)
        is_waited_for = self._returning > 0
        for part in parts:
            self.run.withdraw(part)
        if (asked or self._done) and not is_waited_for:
            self._close()

    def interrupted(self, value: ToolsOutcome | None) -> None:
        """Keep the results so far; calls without a result, also those that had not begun, are cancelled."""
        if value is not None:
            self._done += tuple(result for result in value.results if not result.is_asked)
        self._returning -= 1
        if self._returning <= 0:
            self._close()

    def _close(self) -> None:
        self._apply()
        refuse_open(self.agent, CANCELLED)
        self.publish()

    def words(self, step: Stepped) -> Words:
        turn = self.agent.turn
        if self.status is Status.RUNNING:
            waiting = [same[0].name for same in self._waiting]
            if waiting and not self._parts:
                pending = self.agent.output.pending
                if all(pending[each].reason == "input_required" for each in self._asked):
                    return Words(f"waits for the client: {listed(waiting)}", f"The client is to run {listed(waiting)}.")
                return Words(f"waits for a person: {listed(waiting)}", f"A person is asked about {listed(waiting)}.")
            return _running([call.name for call in turn.open_calls], began=step.began)
        if turn.tools is None or self.status is Status.FAILURE:
            return Words()
        results = turn.tools.results
        errors = sum(result.is_error for result in results)
        text = counted(len(results), "result") + (f", {counted(errors, 'error')}" if errors else "")
        text += ", nothing found" if turn.tools.found_nothing and errors < len(results) else ""
        done = "were halted" if self.status is not Status.SUCCESS else "have returned"
        return Words(text, f"The tools {done}: {text}.", (Figure("results", len(results)), Figure("errors", errors)))


def _running(names: list[str], *, began: bool) -> Words:
    if not names:
        return Words()
    begin, are = ("begins", "is") if len(names) == 1 else ("begin", "are")
    return Words(f"runs {listed(names)}", f"{listed(names)} {begin if began else f'{are} under way'}.")


class RefuseToolsSettings(NodeSettings):
    """Settings of `refuse_tools`.

    Args:
        why: the result that the model and the user get.
    """

    why: str = NO_TURN_LEFT


@node(
    "refuse_tools",
    settings=RefuseToolsSettings,
    shorthand="why",
    facts=Facts(roles=(REFUSES_CALLS,)),
    flow=leaf(*ANSWERING_CALLS),
)
class RefuseTools(AgentNode[RefuseToolsSettings]):
    """Answers the tool calls of the last turn without running them.

    SUCCESS, always. Refused calls count neither as tool calls nor as errors.

    ```yaml
    refuse_tools: "Not run: this question is answered from memory."
    ```
    """

    def update(self) -> Status:
        refuse_open(self.agent, self.settings.why)
        self.publish()
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the settings say it
        why = clipped(self.settings.why, 120)
        return Words(f'answered "{why}"', f'Open tool calls are answered without being run: "{why}"')


NEEDLESS = "Answer now from what you have; say what is missing, if anything is."


class HoldBackCallsSettings(NodeSettings):
    """Settings of `hold_back_calls`.

    Args:
        why: what the model reads after the reason.
    """

    why: str = NEEDLESS


@node(
    "hold_back_calls",
    settings=HoldBackCallsSettings,
    shorthand="why",
    facts=Facts(roles=(HOLDS_BACK_CALLS,)),
    flow=leaf(Case("success")),
)
class HoldBackCalls(AgentNode[HoldBackCallsSettings]):
    """Keeps `run_tools` from running calls that cannot find anything new.

    SUCCESS, always. Held back are repeated calls and, once `judge_context` has found enough, most further searches;
    calls that write or read something new always run.

    ```yaml
    hold_back_calls: "You have what there is to find: answer from it."
    ```
    """

    def update(self) -> Status:
        agent = self.agent
        tools, signal = agent.equipment.tools, agent.signals.latest
        agent.gathering.hold_back(agent.turn.open_calls, tools, agent.state, signal=signal, words=self.settings.why)
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the run says it
        held = self.agent.gathering.held_back
        if not held:
            return Words("none", "Every call may bring something, so none is held back.")
        why = clipped(next(iter(held.values())), 120)
        calls = counted(len(held), "call")
        return Words(f'{calls} held back: "{why}"', f'{calls} can only repeat what is known: "{why}"')


class AgentCall(CallAction, AgentNode[CallSettings]):
    """Calls a tool; the keys that count what tools find are up to date when the next node is ticked."""

    def finish(self, value: Any) -> Status:  # noqa: ANN401  JSON data
        self.publish()
        return super().finish(value)


AGENT_ACTION: Final[Kind] = replace(CallAction.kind, factory=AgentCall)
