"""No log line has a word of a user, of the model or of a tool; the run's record has them."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from oracle.tools import ToolResult
from tests.acceptance.harness import harness
from tests.acceptance.scripts import CODE_QUESTION, answers, calls, made_tool, says, signal_xml

MALFORMED = "<signal type='x-words'>x-words</signal>"
UNCLOSED = '<signal type="stuck"><blocker>x-words</blocker>'
CORRECTED = signal_xml("partial_answer", missing="x-words", caveat="x-words", confidence=7, xwords="x-words")
GAP = signal_xml("need_capability", capability="x-words", reason="x-words")


@pytest.fixture
def logs() -> Iterator[list[Any]]:
    with capture_logs() as captured:
        yield captured
    structlog.reset_defaults()


@pytest.mark.parametrize(
    ("written", "outcome"),
    [(MALFORMED, "malformed"), (UNCLOSED, "malformed"), (CORRECTED, "accepted"), (GAP + CORRECTED, "ignored")],
    ids=["malformed", "never closed", "corrected", "further"],
)
async def test_the_words_of_a_signal_are_in_the_audit_and_not_in_the_log(
    logs: list[Any], written: str, outcome: str
) -> None:
    async with harness([says("A sentence with x-words." + written), answers()]) as it:
        answered = await it.ask(f"{CODE_QUESTION} x-words")
    assert "x-words" not in repr(logs)
    doubtful = [event for event in logs if event["event"] == "signal.doubtful" and event["outcome"] == outcome]
    assert len(doubtful) == 1
    record = next(each for each in answered.agent.signals.audit if each.outcome == outcome)
    assert record.raw_xml is not None
    assert "x-words" in record.raw_xml
    assert doubtful[0]["characters"] == len(record.raw_xml)
    assert len(doubtful[0]["digest"]) == 16


async def test_the_arguments_and_the_mistake_of_a_tool_are_not_in_the_log(logs: list[Any]) -> None:
    async def fails(arguments: Mapping[str, Any]) -> ToolResult:
        raise ValueError(f"invalid literal: {arguments['word']}")

    async with harness(
        [says("", calls("probe", word="x-words")), answers("It failed: x-words.")], tools=[made_tool(fails)]
    ) as it:
        answered = await it.ask(f"{CODE_QUESTION} x-words")
    failed = [event for event in logs if event["event"] == "tool.failed"]
    assert [(event["tool"], event["error"]) for event in failed] == [("probe", "ValueError")]
    assert failed[0]["at"][-1].endswith(" fails")
    assert "x-words" in answered.results[0].tool_result
    assert "x-words" not in repr(logs)
