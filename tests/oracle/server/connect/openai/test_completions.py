"""The frames of a chat completion, over the table that all adapters play."""

from typing import Any

import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from oracle.core.chunks import Done, TokenUsage, ToolCall, ToolCalled
from oracle.core.encoding import to_json
from oracle.server.connect.openai.completions import CompletionFrames, usage_of
from tests.oracle.server.connect.openai.conftest import chunks_of, text_of
from tests.oracle.server.connect.scripted import CREATED_AT, RUN_ID, SCRIPTED, Scripted, done, played

ROWS = {row.name: row for row in SCRIPTED}
ENDED = [row for row in SCRIPTED if not row.is_parked]
LENGTH = {"limit", "time"}
FAILED = {"error", "error_at_once"}

each_row = pytest.mark.parametrize("row", SCRIPTED, ids=lambda row: row.name)
each_ended = pytest.mark.parametrize("row", ENDED, ids=lambda row: row.name)


def chunks(row: Scripted, **options: Any) -> list[Any]:
    frames = played(CompletionFrames.of_run(row.run, **options), row)
    return chunks_of(b"".join(frames) if not row.is_parked else b"".join([*frames, b"data: [DONE]\n\n"]))


def reasoning(found: list[Any]) -> str:
    return "".join(chunk["choices"][0]["delta"].get("reasoning_content", "") for chunk in found if chunk.get("choices"))


@each_row
def test_the_content_is_the_native_answer(row):
    assert text_of(chunks(row)) == row.answer.text
    assert text_of(chunks(row, tells_activity=False)) == row.answer.text


@each_row
def test_the_chunks_are_those_of_the_sdk(row):
    found = chunks(row, with_usage=True)
    for chunk in found:
        if "error" not in chunk:
            ChatCompletionChunk.model_validate(chunk, strict=True)
            assert (chunk["id"], chunk["created"], chunk["model"]) == (f"chatcmpl-{RUN_ID}", int(CREATED_AT), "oracle")
    assert found[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}


def sdk(frames: list[bytes]) -> openai.OpenAI:
    """The SDK, connected to a service that answers with these frames."""
    answer = httpx2.Response(200, headers={"Content-Type": "text/event-stream"}, content=b"".join(frames))
    http = httpx2.Client(transport=httpx2.MockTransport(lambda _: answer), trust_env=False, verify=False)
    return openai.OpenAI(base_url="http://oracle/v1", api_key="key", http_client=http)


@each_ended
def test_the_sdk_puts_the_chunks_together(row):
    frames = played(CompletionFrames.of_run(row.run, with_usage=True), row)
    with sdk(frames).chat.completions.stream(model="oracle", messages=[]) as stream:
        if row.name in FAILED:
            with pytest.raises(openai.APIError, match="The"):
                stream.until_done()
            return
        if row.name in LENGTH:  # what this helper of the SDK makes of each answer that was cut off
            with pytest.raises(openai.LengthFinishReasonError) as raised:
                stream.get_final_completion()
            completion = raised.value.completion
        else:
            completion = stream.get_final_completion()
    assert completion.choices[0].message.content == row.answer.text
    assert completion.usage is not None
    assert completion.usage.total_tokens == row.answer.done.tokens_used


@each_row
def test_what_a_service_runs_is_never_a_call_of_the_client(row):
    assert b"tool_calls" not in b"".join(played(CompletionFrames.of_run(row.run), row))


@each_ended
def test_the_end_says_why(row):
    found = chunks(row)
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in found if "choices" in chunk]
    if row.name in FAILED:
        assert set(reasons) == {None}
        assert found[-1]["error"]["code"] in ("provider_failed", "interrupted")
        return
    assert reasons[:-1] == [None] * (len(reasons) - 1)
    assert reasons[-1] == ("length" if row.name in LENGTH else "stop")


@each_ended
def test_the_whole_is_what_its_chunks_add_up_to(row):
    completion = CompletionFrames.of_run(row.run)
    played(completion, row)
    if row.name in FAILED:
        assert completion.failed is not None
        return
    whole = completion.whole()
    ChatCompletion.model_validate_json(to_json(whole), strict=True)
    [choice] = whole["choices"]
    found = chunks(row)
    assert choice["message"]["content"] == row.answer.text
    assert choice["message"].get("reasoning_content", "") == reasoning(found)
    assert choice["finish_reason"] == found[-1]["choices"][0]["finish_reason"]


def test_the_usage_comes_last_and_only_where_it_was_asked_for():
    row = ROWS["tools"]
    assert all("usage" not in chunk for chunk in chunks(row))
    *others, last = chunks(row, with_usage=True)
    assert [chunk["usage"] for chunk in others] == [None] * len(others)
    assert last["choices"] == []
    assert last["usage"]["total_tokens"] == 812


def test_the_usage_is_that_of_done():
    counted = TokenUsage(input_tokens=100, cache_creation_tokens=20, cache_read_tokens=300, output_tokens=7)
    ended = done()
    ended = Done(**{**{name: getattr(ended, name) for name in Done.__match_args__}, "usage": counted})
    assert usage_of(ended) == {
        "prompt_tokens": 420,
        "completion_tokens": 7,
        "total_tokens": 427,
        "prompt_tokens_details": {"cached_tokens": 300},
    }


def test_pages_are_cited_and_other_sources_listed_once_and_not_in_the_answer():
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks(ROWS["sources"])]
    [cited] = [delta for delta in deltas if "annotations" in delta]
    [page] = cited["annotations"]
    assert page["url_citation"]["url"] == "https://example.org/login"
    assert page["url_citation"]["title"] == "How to log in"
    assert [source["path"] for source in cited["sources"]] == ["src/login.py", "Login.md"]
    assert reasoning(chunks(ROWS["sources"])) == "Source: src/login.py:14\nSource: Login.md:3\n"


def test_activity_is_told_in_lines_between_thoughts_or_not_at_all():
    told = reasoning(chunks(ROWS["tools"]))
    assert told.startswith('I look.\nTool: search_code {"query":"login"}\nSource: src/login.py:14\nTool: read_file')
    assert "Failed: There is no src/gone.py." in told
    assert reasoning(chunks(ROWS["tools"], tells_activity=False)) == "I look."
    assert "Waiting for approval: May write_note be called?\nDecided: approved\n" in reasoning(chunks(ROWS["approved"]))


def test_a_line_of_activity_is_one_line_of_bounded_length():
    completion = CompletionFrames("x", created_at=0, model="oracle")
    [frame] = completion.frames(1, ToolCalled(ToolCall("1", "write_note", {"text": "a\n\ud800 \u2028" * 5_000})))
    [chunk] = chunks_of(frame + b"data: [DONE]\n\n")
    line = chunk["choices"][0]["delta"]["reasoning_content"]
    assert len(line) <= 201
    assert line.count("\n") == 1


def test_a_run_that_waits_keeps_its_stream_open():
    assert list(CompletionFrames.of_run(ROWS["approval"].run).parked()) == []


def test_the_whole_of_a_run_that_waits_is_what_was_said_so_far_and_what_is_open():
    completion = CompletionFrames.of_run(ROWS["approval"].run)
    played(completion, ROWS["approval"])
    whole = completion.whole()
    ChatCompletion.model_validate_json(to_json(whole), strict=True)
    [choice] = whole["choices"]
    said, _, waits = choice["message"]["content"].partition("\n\n")
    assert said == "I write that down. "
    assert waits.startswith("This run waits for a person: 'May write_note be called?' (write_note, ")
    assert f"POST /api/oracle/runs/{RUN_ID}/deliveries" in waits
    assert choice["message"]["reasoning_content"].endswith("Waiting for approval: May write_note be called?\n")
    assert choice["finish_reason"] == "stop"
