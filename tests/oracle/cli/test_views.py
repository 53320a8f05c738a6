import io
import json
from dataclasses import replace

import pytest

from oracle.cli.streams import SafeStream, are_one
from oracle.cli.views import JsonView, PlainView, ending, is_answered
from oracle.core.chunks import (
    Answer,
    Answered,
    ApprovalRequested,
    Closing,
    Content,
    Done,
    Failed,
    QuestionAsked,
    Source,
    SourceFound,
    SystemNotice,
    Thinking,
    TokenUsage,
    ToolCall,
    ToolCalled,
    ToolReturned,
)
from tests.oracle.cli.histories_made import ASKED

DONE = Done("completed", 1234, tokens_estimated=True, model_used="m", context_id="c", run_id="r", turns=3)


def done(reason):
    return Done(reason, 1, tokens_estimated=False, model_used="m", context_id="c", run_id="r", turns=1)


class Terminated(io.StringIO):
    """A stream whose reader has closed it."""

    def write(self, text):
        raise BrokenPipeError(32, "Broken pipe")


def json_lines(*chunks):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    view = JsonView(SafeStream(stream, on_failure=pytest.fail))
    for chunk in chunks:
        view.show(chunk)
    return raw.getvalue()


def plain(*chunks):
    out, aside = io.StringIO(), io.StringIO()
    times = iter([10.0, 11.25])
    view = PlainView(
        SafeStream(out, on_failure=pytest.fail), SafeStream(aside, on_failure=pytest.fail), now=lambda: next(times)
    )
    for chunk in chunks:
        view.show(chunk)
    return out.getvalue(), aside.getvalue()


def test_each_chunk_is_one_compact_line_of_json_in_utf_8():
    lines = json_lines(Content("größer\n"), DONE)
    assert lines.splitlines()[0] == '{"type":"content","content":"größer\\n"}'.encode()
    assert [json.loads(line)["type"] for line in lines.splitlines()] == ["content", "done"]


@pytest.mark.parametrize("text", ["a\u2028b", "a\u2029b", "\x85", "\x00\x1b[31m", "\u202e"])
def test_any_text_survives_json_on_one_line(text):
    (line,) = json_lines(Content(text)).decode().splitlines()
    assert json.loads(line)["content"] == text


def test_a_lone_surrogate_is_replaced_as_in_the_stream():
    (line,) = json_lines(Content("a\ud800b")).decode().splitlines()
    assert json.loads(line)["content"] == "a\ufffdb"


def test_numbers_that_json_lacks_are_null_as_in_the_stream():
    (line,) = json_lines(ToolCalled(ToolCall("1", "t", {"x": [float("nan"), float("inf"), 1.5]}))).splitlines()
    assert json.loads(line)["tool_call"]["arguments"] == {"x": [None, None, 1.5]}


def test_plain_text_separates_the_answer_from_notes_about_it():
    out, aside = plain(
        Thinking("secretly"),
        ToolCalled(ToolCall("1", "search_code", {"query": "auth"})),
        ToolReturned("1", "two hits", is_error=False, duration_ms=35),
        SourceFound(Source("a.py", "code", line=1)),
        SourceFound(Source("a.py", "code", line=1, snippet="again")),
        Content("It is "),
        Content("here."),
        SystemNotice("limit_warning", "Near.", "warning", "t"),
        DONE,
    )
    assert out == "It is here.\n\nSources:\n- a.py:1\n"
    assert aside == (
        '✓ search_code(query="auth") · 35 ms\n'
        "warning: Near.\n"
        "completed · 3 turns · 1,234 tokens (estimated) · m · 1.2 s\n"
    )


def test_where_both_streams_are_one_a_line_about_the_answer_begins_on_a_new_line(tmp_path):
    with (tmp_path / "terminal").open("w") as file, (tmp_path / "other").open("w") as other:
        assert are_one(file, file)
        assert not are_one(file, other)
        both = SafeStream(file, on_failure=pytest.fail)
        view = PlainView(both, both, is_together=True, now=lambda: 0.0)
        view.show(ToolCalled(ToolCall("1", "web_search", {"query": "a"})))
        for chunk in (Content("I look "), Content("it up."), ToolReturned("1", "x", is_error=False, duration_ms=3)):
            view.show(chunk)
        view.show(ToolReturned("1", "x", is_error=False, duration_ms=4))
    lines = (tmp_path / "terminal").read_text().splitlines()
    assert lines == ["I look it up.", '✓ web_search(query="a") · 3 ms', '✓ web_search(query="a") · 4 ms']


def test_what_people_are_asked_and_have_decided_goes_to_the_other_stream():
    _, aside = plain(
        ApprovalRequested(ASKED),
        Answered(replace(ASKED, status="refused", answered_by="olga\x1b"), comment="Not\nthere."),
        QuestionAsked(replace(ASKED, message="Which?", tool_name=None, expires_at=None)),
        Answered(replace(ASKED, status="answered", answered_by="olga"), answer=["a", 1]),
        done("completed"),
    )
    assert aside.startswith(
        '? May I write this note? · vault_write(path="plan.md", body="Poll never.") · until 2026-11-29T11:22:19Z\n'
        "? refused by olga\\x1b: Not there.\n"
        "? Which?\n"
        '? answered by olga: ["a", 1]\n'
    )


def test_the_message_of_a_failure_goes_to_the_other_stream():
    out, aside = plain(
        ToolCalled(ToolCall("1", "read_file", {"path": "x"})),
        ToolReturned("1", "there is no file\nat all", is_error=True, duration_ms=2),
        Failed("The provider \x1b[31mfailed.", "provider_failed"),
        Content("Stopped: it failed."),
        done("error"),
    )
    assert out == "Stopped: it failed.\n"
    assert '✗ read_file(path="x") · 2 ms · there is no file at all\n' in aside
    assert "error: The provider \\x1b[31mfailed.\n" in aside


def test_a_query_without_text_prints_nothing_on_standard_output():
    assert plain(done("user_cancelled"))[0] == ""


def test_the_last_line_uses_the_singular_for_one():
    assert ending(done("user_cancelled"), elapsed_s=0.04) == "cancelled · 1 turn · 1 token · m · 0.0 s"
    cached = replace(DONE, usage=TokenUsage(100, 40, 860, 1094))
    assert ending(cached, elapsed_s=1.25) == (
        "completed · 3 turns · 1,234 tokens (estimated) · 86 % of the input cached · m · 1.2 s"
    )


LIMIT = Closing("Stopped: time limit reached (10 s).", "timeout")


@pytest.mark.parametrize(
    ("contents", "reason", "expected"),
    [
        pytest.param([Content("Yes.")], "completed", True, id="an answer"),
        pytest.param([], "completed", False, id="nothing"),
        pytest.param([Content("\n\n")], "completed", False, id="white space"),
        pytest.param([Content("Half"), Content("\n\n"), LIMIT], "timeout", True, id="half an answer"),
        pytest.param([LIMIT], "timeout", False, id="the closing sentence alone"),
        pytest.param([Content("Half"), Content("\n\n"), LIMIT], "error", False, id="an error after half an answer"),
        pytest.param([Content("Stopped: a word of the model")], "completed", True, id="the model's own word"),
        pytest.param([Content("Stopped: a word of the model")], "timeout", True, id="own words, and a limit"),
        pytest.param([Content("Half")], "user_cancelled", True, id="cancelled after half an answer"),
    ],
)
def test_a_query_is_answered_if_the_model_produced_text_and_nothing_failed(contents, reason, expected):
    answer = Answer()
    for chunk in (*contents, done(reason)):
        answer.add(chunk)
    assert is_answered(answer) is expected


def test_a_query_without_an_end_is_not_answered():
    answer = Answer()
    answer.add(Content("Half"))
    assert not is_answered(answer)


def test_a_closed_reader_is_reported_once_and_never_raises():
    failures = []
    out = SafeStream(Terminated(), on_failure=lambda: failures.append(True))
    out.write("a")
    out.write("b")
    out.write_bytes(b"c")
    assert failures == [True]
    assert isinstance(out.failure, BrokenPipeError)
