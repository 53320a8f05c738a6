"""The tool calls of a run: asked for, begun, ended; by the model, by its provider, and by the tree itself."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.agent.tool_calls import OWN_CALL
from oracle.core.chunks import ToolCall, ToolReturned
from oracle.llm.protocol import ToolUse
from oracle.replay.histories.model import CallFacts

T = TypeVar("T")


class Calls:
    """Collects the calls.

    Args:
        calls: gets them, in the order in which they were asked for.
        since_start: seconds from the start of the query, of a time by the run's clock.
        has_texts: arguments and results were not deleted.

    `labels` has what the tools read and where they write, by their names.
    """

    def __init__(
        self, calls: list[CallFacts], since_start: Callable[[float], float], *, has_texts: bool = True
    ) -> None:
        self._has_texts = has_texts
        self.labels: Mapping[str, tuple[str, ...]] = {}
        self._calls = calls
        self._since_start = since_start
        self._at: dict[str, int] = {}
        self._open: dict[str, int] = {}  # those without a tick that got their result
        self._expected: dict[int, tuple[int, float]] = {}  # nodes whose own calls come next, with tick and time

    def asked(self, call: ToolCall, *, turn: int, tick: int, at_s: float) -> None:
        """The model, its provider or the tree asks for a call."""
        arguments = call.arguments if self._has_texts else None
        labels = self.labels.get(call.name)
        facts = CallFacts(call.id, call.name, turn, tick, None, at_s, None, arguments=arguments, labels=labels)
        if call.id.startswith(OWN_CALL) and call.id not in self._at:
            facts = replace(facts, caller="tree")
            if self._expected:
                node = next(iter(self._expected))
                began_tick, began_s = self._expected.pop(node)
                facts = replace(facts, node=node, began_tick=began_tick, began_s=began_s)
        self._at[call.id] = self._open[call.id] = len(self._calls)
        self._calls.append(facts)

    def began(self, node: int, *, tick: int, at_s: float) -> None:
        """A node runs the calls of the last turn that have no result yet."""
        for at in self._open.values():
            known = self._calls[at]
            if known.caller == "model" and known.result is None:
                self._calls[at] = replace(known, node=node, began_tick=tick, began_s=at_s)

    def expect(self, node: int, *, tick: int, at_s: float) -> None:
        """A node of the tree makes a call of its own."""
        self._expected[node] = (tick, at_s)

    def returned(self, chunk: ToolReturned, *, tick: int, at_s: float) -> None:
        """A result was sent."""
        at = self._at.get(chunk.tool_call_id)
        if at is None:
            return
        known = self._calls[at]
        has_run = chunk.duration_ms > 0 or (known.caller == "tree" and not chunk.is_error)
        self._calls[at] = replace(
            known,
            ended_s=at_s,
            ended_tick=tick if known.node is None else known.ended_tick,
            is_error=chunk.is_error,
            result=chunk.tool_result,
            ran=True if has_run else known.ran,
        )
        if known.node is None:
            self._open.pop(chunk.tool_call_id, None)

    def take_turn(self, outcome: TurnOutcome) -> None:
        """Take what the outcome of a turn says about its calls: which of them the provider has run."""
        own = {call.id for call in outcome.calls}
        for call_id in [*self._at][-2 * (len(own) + len(outcome.server_tools)) - 1 :] if outcome.server_tools else ():
            at = self._at[call_id]
            known = self._calls[at]
            if known.caller == "model" and known.name in outcome.server_tools and call_id not in own:
                self._calls[at] = replace(known, caller="provider", ran=known.result is not None)

    def take_results(self, results: Iterable[CallResult], ended_s: float) -> None:
        """Take the recorded results of a turn's calls."""
        for result in results:
            at = self._at.get(result.call.id)
            if at is None:
                continue
            known = self._calls[at]
            if result.is_asked:  # the client has it; the result follows
                self._calls[at] = replace(known, ran=True)
                continue
            began_s, took_ms = result.started_s, result.duration_ms
            ran = result.began
            text = result.text if self._has_texts else None
            known = replace(known, result=text, is_error=result.is_error, ran=ran)
            if not ran:
                self._calls[at] = replace(known, ended_s=None)
            elif began_s is None:
                self._calls[at] = replace(known, ended_s=known.ended_s or ended_s)
            else:
                began_s = self._since_start(began_s)
                self._calls[at] = replace(known, began_s=began_s, ended_s=round(began_s + (took_ms or 0) / 1000, 6))

    def ended(self, node: int | None, *, tick: int) -> None:
        """A tick got the outcome of a node's calls."""
        if node is None:
            return
        self._expected.pop(node, None)
        for call_id, at in [*self._open.items()]:
            if self._calls[at].node == node:
                self._calls[at] = replace(self._calls[at], ended_tick=tick)
                del self._open[call_id]


class NumberedCalls:
    """Gives ids to the tool calls of a run whose texts were deleted, and their ids with them.

    They are numbers, so that a result finds its call: in the order in which the model asked, by the name of the tool.
    Takes the outcomes of the run, in their order.
    """

    def __init__(self) -> None:
        self._asked = 0
        self._waiting: deque[ToolUse] = deque()

    def with_ids(self, value: T) -> T:
        """The value of an outcome, with ids for its calls."""
        if isinstance(value, TurnOutcome):
            self._waiting = deque(map(self._numbered, value.calls))
            return replace(value, calls=tuple(self._waiting))
        if isinstance(value, ToolsOutcome):
            return replace(value, results=tuple(replace(each, call=self._call_of(each.call)) for each in value.results))
        return value

    def _numbered(self, call: ToolUse) -> ToolUse:
        self._asked += 1
        return replace(call, id=f"call-{self._asked}")

    def _call_of(self, call: ToolUse) -> ToolUse:
        """The first call of that tool that waits for its result."""
        found = next((each for each in self._waiting if each.name == call.name), None)
        if found is None:
            return call
        self._waiting.remove(found)
        return found
