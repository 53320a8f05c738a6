"""The rules of the stream, whoever drives the query (decisions 8, 9)."""

import pytest

from oracle.agent.notices import Notice
from oracle.agent.output import Output
from oracle.core.chunks import Chunk, Content, Done, Failed, Source, ToolCall, ToolCalled, ToolReturned

DONE = Done("completed", 1, tokens_estimated=False, model_used="m", context_id="c", run_id="r", turns=1)


@pytest.fixture
def sent() -> list[Chunk]:
    return []


@pytest.fixture
def output(sent: list[Chunk]) -> Output:
    return Output(emit=sent.append, timestamp=lambda: "now")


def contents(sent: list[Chunk]) -> list[str]:
    return [chunk.content for chunk in sent if isinstance(chunk, Content)]


def test_decision_08_the_texts_of_turns_are_joined_by_a_chunk_of_two_line_breaks(
    output: Output, sent: list[Chunk]
) -> None:
    output.new_paragraph()
    output.say("One")
    output.say(".")
    output.new_paragraph()
    output.new_paragraph()
    output.say("Two.")
    assert contents(sent) == ["One", ".", "\n\n", "Two."]
    assert output.answer == "One.\n\nTwo."


def test_a_turn_that_says_nothing_leaves_no_line_breaks(output: Output, sent: list[Chunk]) -> None:
    output.say("One.")
    output.new_paragraph()
    output.say("")
    assert contents(sent) == ["One."]


def test_a_sentence_of_the_control_is_a_chunk_of_its_own(output: Output, sent: list[Chunk]) -> None:
    output.say("One.")
    output.say_sentence("Stopped: so.")
    assert contents(sent)[-2:] == ["\n\n", "Stopped: so."]


@pytest.mark.parametrize("tag", ["<signal type='stuck'>", "<SIGNAL\tTYPE='stuck'>", "<signal"])
def test_a_sentence_of_the_control_that_quotes_a_signal_has_none(tag: str, output: Output) -> None:
    output.say_sentence(f"Stopped: {tag}")
    assert output.answer == f"Stopped: \u2039{tag[1:]}"


def test_each_source_is_sent_once(output: Output, sent: list[Chunk]) -> None:
    for line in (1, 2, 1):
        output.cite(Source("a.py", "code", line))
    output.cite(Source("a.py", "vault", 1))
    assert len(sent) == len(output.sources) == 3


def test_each_call_has_exactly_one_result(output: Output, sent: list[Chunk]) -> None:
    result = ToolReturned("1", "x", is_error=False, duration_ms=0)
    output.return_tool(result)
    output.call_tool(ToolCalled(ToolCall("1", "probe", {})))
    output.return_tool(result)
    output.return_tool(result)
    assert [chunk.type for chunk in sent] == ["tool_call", "tool_result"]


def test_calls_that_are_open_at_the_end_are_answered_before_done(output: Output, sent: list[Chunk]) -> None:
    output.call_tool(ToolCalled(ToolCall("1", "probe", {})))
    output.finish(DONE)
    assert [chunk.type for chunk in sent] == ["tool_call", "tool_result", "done"]


def test_decision_09_nothing_is_sent_after_done(output: Output, sent: list[Chunk]) -> None:
    output.say("One.")
    output.finish(DONE)
    output.finish(DONE)
    output.say("Two.")
    output.think("Hm.")
    output.call_tool(ToolCalled(ToolCall("1", "probe", {})))
    output.cite(Source("a.py", "code"))
    output.notify(Notice("stuck", "Stuck."))
    output.fail(Failed("It broke.", "internal"))
    assert [chunk.type for chunk in sent] == ["content", "done"]
    assert output.answer == "One."


def test_notifications_carry_the_time_and_are_kept(output: Output, sent: list[Chunk]) -> None:
    output.notify(Notice("stuck", "Stuck.", "warning", {"a": 1}))
    assert sent[0].to_wire()["timestamp"] == "now"
    assert [step.chunk for step in output.steps] == sent
