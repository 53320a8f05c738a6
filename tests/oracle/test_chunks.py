"""The wire form of every chunk is held by a file: names in public stay for ever (the contract's table of chunks)."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from oracle.chunks import (
    Chunk,
    Content,
    Done,
    ErrorType,
    Failed,
    Severity,
    Source,
    SourceFound,
    SourceType,
    SystemNotice,
    SystemType,
    TerminationReason,
    Thinking,
    ToolCalled,
    ToolReturned,
)

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "chunks.json").read_text(encoding="utf-8"))
CHUNKS: dict[str, Chunk] = {
    "thinking": Thinking("Hm."),
    "content": Content("Some text.\n"),
    "source": SourceFound(Source("src/retry.py", "code", line=7, snippet="class RetryPolicy:", score=0.5)),
    "source-least": SourceFound(Source("https://example.org", "web")),
    "tool_call": ToolCalled("call_1", "search_code", {"query": "auth", "limit": 3}),
    "tool_result": ToolReturned("call_1", "src/auth.py:1", is_error=False, duration_ms=12),
    "system": SystemNotice(
        "limit_warning",
        "Approaching iteration limit (7/10). Consider wrapping up your response.",
        "warning",
        "2026-01-02T03:04:05.000+00:00",
        {"current_value": 7, "limit_value": 10, "percent": 70, "limit_type": "iteration"},
    ),
    "error": Failed("The model provider is overloaded. Try again in a moment.", "provider_overloaded"),
    "done": Done(
        "max_iterations",
        1234,
        tokens_estimated=False,
        model_used="claude-sonnet-5-5",
        context_id="c1",
        run_id="r1",
        turns=10,
    ),
}
WORDS = {
    "system_type": SystemType,
    "severity": Severity,
    "source_type": SourceType,
    "error_type": ErrorType,
    "termination_reason": TerminationReason,
}


@pytest.mark.parametrize("name", CHUNKS)
def test_a_chunk_looks_on_the_wire_as_the_file_says(name: str) -> None:
    wire = CHUNKS[name].to_wire()
    assert wire == GOLDEN["chunks"][name]
    assert list(wire) == list(GOLDEN["chunks"][name])
    assert wire["type"] == CHUNKS[name].type
    assert json.loads(json.dumps(wire)) == wire


def test_every_type_of_chunk_is_in_the_file() -> None:
    assert {type(chunk) for chunk in CHUNKS.values()} == set(get_args(Chunk))
    assert GOLDEN["chunks"].keys() == CHUNKS.keys()


@pytest.mark.parametrize("name", WORDS)
def test_the_words_that_a_client_may_meet_are_those_of_the_file(name: str) -> None:
    assert list(get_args(WORDS[name])) == GOLDEN["words"][name]
