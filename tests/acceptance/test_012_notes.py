"""Notes of the control: one at a time, the strongest; the last turn is named and announced (decisions 13, 24)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations_with_replacement, count, pairwise
from typing import Any

import pytest

from bt_runtime.testing import FakeClock
from oracle.agent.notes import ANSWER_NOW, WRAP_UP
from oracle.testing import ScriptedTurn
from oracle.tools import ToolResult
from tests.acceptance.harness import Answered, ControlName, answers, calls, harness, made_tool, says, text_of
from tests.acceptance.scripts import signal_xml
from tests.support.provider.messages import blocks_of

BIG = 200_000
LAST_BUT_ONE = "Tools are still run in this turn; the next one is the last, without tools."
NEED_TURN = signal_xml("need_turn", reason="more")
CAPABILITY = signal_xml("need_capability", capability="web search", reason="it is on the web")
STUCK = signal_xml("stuck", attempted="code", blocker="nothing is there")

ROUNDS: Mapping[str, ScriptedTurn] = {
    "finds": says("", calls("probe", query="auth")),
    "fails": says("", calls("broken", query="auth")),
    "finds nothing": says("", calls("empty", query="auth")),
    "has enough": says(signal_xml("context_sufficient", sources_found=1), calls("probe", query="auth")),
    "asks for a turn": says("So." + NEED_TURN),
    "lacks a tool": says("So." + CAPABILITY),
    "is stuck": says("So." + STUCK),
    "announces": says("Let me look into that."),
    "is cut off": says("Half an ans", stop_reason="max_tokens"),
    "says nothing": says(""),
}
"""What the model does in a turn; each of it brings a note of its own in some state of the query."""


async def found(arguments: Mapping[str, Any]) -> ToolResult:
    return ToolResult(f"src/auth.py:1: def log_in()  # {arguments}")


async def fails(_: Mapping[str, Any]) -> ToolResult:
    return ToolResult("no such file", is_error=True)


async def empty(_: Mapping[str, Any]) -> ToolResult:
    return ToolResult("Nothing was found.", is_empty=True)


TOOLS = [made_tool(found), made_tool(fails, "broken"), made_tool(empty, "empty")]
WITHHELD = replace(made_tool(found, "web"), group="web", query_types=("research",))


def asked(answered: Answered) -> list[Any]:
    """The messages of each request."""
    return [body["messages"] for body in answered.bodies] or [request.messages for request in answered.requests]


def new_notes(answered: Answered) -> list[list[str]]:
    """What the control newly says in each request."""
    said: list[list[str]] = []
    before = 0
    for messages in asked(answered):
        notes = [block["text"] for each in messages if each["role"] == "system" for block in blocks_of(each)]
        said.append(notes[before:])
        before = len(notes)
    return said


@pytest.mark.parametrize("turn_s", [0, 22], ids=["fast", "slow"])
@pytest.mark.parametrize(("first", "second"), [*combinations_with_replacement(ROUNDS, 2)])
async def test_no_request_has_two_notes_whatever_the_model_does_in_two_turns(
    first: str, second: str, turn_s: int
) -> None:
    """All pairs, at the beginning of a query, near its limits, the time among them, and in its last turns."""
    turns = [ROUNDS["finds"], *(ROUNDS[each] for _ in range(2) for each in (first, second)), answers()]
    clock = FakeClock()
    async with harness(taking(turn_s, turns, clock), wire=False, tools=[*TOOLS, WITHHELD], clock=clock) as it:
        answered = await it.ask(limits={"max_iterations": 6, "token_budget": BIG, "timeout_seconds": 120})
    assert len(asked(answered)) > 1
    offered: list[list[str]] = []
    for notes, request in zip(new_notes(answered), answered.requests, strict=True):
        assert len(notes) <= 1
        assert "\n\n" not in "".join(notes), "two notes in one"
        offered.append([tool.name for tool in request.tools])
        assert WRAP_UP not in "".join(notes) or offered[-1] == offered[-2], "tools are offered and not run"
    for messages in asked(answered):
        results = [block for each in messages for block in blocks_of(each) if block["type"] == "tool_result"]
        assert not [block for block in results if WRAP_UP in block["content"]]


@pytest.mark.parametrize("last", ROUNDS)
async def test_what_is_offered_stays_in_a_turn_whose_tools_are_not_run(last: str) -> None:
    async with harness([ROUNDS["finds"], ROUNDS[last], answers()], wire=False, tools=[*TOOLS, WITHHELD]) as it:
        answered = await it.ask(limits={"max_iterations": 3})
    offered = [[tool.name for tool in request.tools] for request in answered.requests]
    assert "web" not in offered[0]
    assert offered == offered[:1] * len(offered)


def taking(turn_s: int, turns: Iterable[ScriptedTurn], clock: FakeClock) -> Iterator[ScriptedTurn]:
    """The turns, each after so many seconds."""
    for turn in turns:
        clock.advance(turn_s)
        yield turn


async def test_decision_13_a_turn_after_which_the_time_is_probably_over_is_named(control: ControlName) -> None:
    """The time of three turns and a half; what is called all the same is run."""
    clock, turns = FakeClock(), [says("", calls("probe", n=n)) for n in range(3)]
    script = taking(20, [*turns, answers()], clock)
    async with harness(script, wire=False, control=control, tools=TOOLS, clock=clock) as it:
        answered = await it.ask(limits={"timeout_seconds": 90})
    first, second, third, fourth = new_notes(answered)
    assert not any("time limit" in note for note in first + second + third)
    why = "60 of 90 s have passed, and a turn takes some 20 s, so this is probably the last turn that can end in time"
    assert fourth == [f"The time limit is near: {why}. {ANSWER_NOW}"]
    assert answered.reason == "completed"


def reading(characters: int) -> Any:
    numbers = count(1)

    async def call(_: Mapping[str, Any]) -> ToolResult:
        return ToolResult("\n".join(f"{next(numbers)} ".ljust(99, "x") for _ in range(characters // 100)))

    return made_tool(call)


async def test_decision_13_the_last_turn_names_its_limit_and_the_one_before_is_told(control: str) -> None:
    turns = [says("", calls("probe", n=n)) for n in range(3)]
    async with harness([*turns, answers()], control=control, tools=TOOLS) as it:  # type: ignore[arg-type]
        answered = await it.ask(limits={"max_iterations": 4})
    *_, before, last = new_notes(answered)
    assert before == [f"This is turn 3 of 4. {LAST_BUT_ONE}"]
    assert last == [f"This is the last turn that the limits allow. It is turn 4 of 4. {WRAP_UP}"]


async def test_decision_13_one_round_of_large_results_does_not_end_the_query() -> None:
    """Nothing is cached, so every request is paid for as a whole."""
    async with harness(tools=[reading(30_000)]) as it:

        def turns() -> Iterator[ScriptedTurn]:
            for n in count(1):
                tokens = (len(str(it.wire.bodies[-1])) // 4, 20)
                yield says("", *(calls("probe", n=n, part=part) for part in range(3)), tokens=tokens)

        it.wire.play(turns())
        answered = await it.ask(limits={"max_iterations": 20, "token_budget": 50_000})
    notes = new_notes(answered)
    at = next(n for n, each in enumerate(notes) if "This is the last turn that the limits allow" in "".join(each))
    assert at >= 2, "the first round of results leaves more than the last turn"
    used = r"[\d,]+ of 50,000 tokens are used, and each turn may count the whole conversation again, some [\d,]+: "
    assert re.fullmatch(f"{used}that leaves this turn and one more. {LAST_BUT_ONE}", notes[at - 1][0])
    assert re.search(used + "the rest pays for one answer", notes[at][0])
    results = [text for body in answered.bodies[-1:] for text in _results(body)]
    assert any("characters; the token budget pays for no more. For the rest, read a range" in text for text in results)
    assert all(len(one["messages"]) < len(other["messages"]) for one, other in pairwise(answered.bodies))


def _results(body: Mapping[str, Any]) -> list[str]:
    return [b["content"] for each in body["messages"] for b in blocks_of(each) if b["type"] == "tool_result"]


async def test_a_note_is_placed_as_the_provider_takes_it() -> None:
    async with harness([ROUNDS["fails"], ROUNDS["says nothing"], answers()], tools=TOOLS) as it:
        answered = await it.ask()
    assert not answered.complaints
    roles = [message["role"] for message in answered.bodies[2]["messages"]]
    assert roles == ["user", "assistant", "user", "system"]
    assert "Your last response was empty." in text_of(answered.bodies[2]["messages"][-1])
