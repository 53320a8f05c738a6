"""The signal prompt against the reader of signals: what the model is taught is what the control understands."""

import re

import pytest

from prompts import load_segments
from signals import parse

SIGNALS = load_segments().get("signals")
assert SIGNALS is not None
TEXT = SIGNALS.text
SIX_TYPES = {
    "need_turn",
    "context_sufficient",
    "stuck",
    "need_capability",
    "partial_answer",
    "delegation_recommended",
}
EXAMPLES = re.findall(r'^<example signal="(\w+)">\n(.*?)\n</example>$', TEXT, flags=re.MULTILINE | re.DOTALL)
SAMPLE_OF_FIELD = {
    "reason": "look at one more file",
    "expected_turns": "2",
    "sources_found": "3",
    "source_types": '["code"]',
    "attempted": '["code search"]',
    "blocker": "nothing found",
    "suggestions": '["ask"]',
    "capability": "log access",
    "workaround": "ask an operator",
    "missing": "the date",
    "caveat": "the note is old",
    "scope": "all handlers",
    "estimated_tokens": "400000",
    "subagent_type": "coding agent",
}
COMMON_FIELDS = {"type", "confidence", "raw_xml", "timestamp"}


def the_table() -> dict[str, tuple[list[str], list[str]]]:
    """Required and optional fields by type, as the prompt tells them."""
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", TEXT, flags=re.MULTILINE)
    return {
        name: (re.findall(r"`(\w+)`", required), re.findall(r"`(\w+)`", optional)) for name, required, optional in rows
    }


def a_signal(signal_type: str, fields: list[str]) -> str:
    body = "".join(f"<{name}>{SAMPLE_OF_FIELD[name]}</{name}>" for name in fields)
    return f'Text.\n\n<signal type="{signal_type}">{body}<confidence>0.8</confidence></signal>'


def test_020_signals_prompt_has_a_complete_example_of_every_type():
    assert {signal_type for signal_type, _ in EXAMPLES} == SIX_TYPES
    assert len(EXAMPLES) == TEXT.count("<example signal=")


@pytest.mark.parametrize(
    ("signal_type", "response"), EXAMPLES, ids=[f"{n}-{each[0]}" for n, each in enumerate(EXAMPLES)]
)
def test_020_every_example_is_read_as_the_type_that_it_shows(signal_type, response):
    parsed = parse(response)
    assert parsed.signal is not None
    assert parsed.signal.type == signal_type
    assert not parsed.warnings
    assert f"<confidence>{parsed.signal.confidence}</confidence>" in response
    assert "<signal" not in parsed.text
    assert parsed.text == response.partition("\n\n<signal")[0]


def test_the_table_of_fields_has_the_six_types():
    assert set(the_table()) == SIX_TYPES


@pytest.mark.parametrize("signal_type", sorted(SIX_TYPES))
def test_decision_15_the_table_of_fields_agrees_with_the_reader(signal_type):
    required, optional = the_table()[signal_type]
    parsed = parse(a_signal(signal_type, required + optional))
    assert parsed.signal is not None
    assert not parsed.warnings
    assert set(type(parsed.signal).model_fields) - COMMON_FIELDS == {*required, *optional}
    assert all(getattr(parsed.signal, name) is not None for name in optional)


@pytest.mark.parametrize("signal_type", sorted(SIX_TYPES))
def test_decision_15_what_the_table_calls_required_is_and_what_it_calls_optional_is_not(signal_type):
    required, _ = the_table()[signal_type]
    assert parse(a_signal(signal_type, required)).signal is not None
    for name in required:
        assert parse(a_signal(signal_type, [each for each in required if each != name])).signal is None


@pytest.mark.parametrize("signal_type", sorted(SIX_TYPES))
def test_020_signals_prompt_says_when_to_emit_each_type(signal_type):
    when = TEXT.partition("## When to emit which")[2].partition("\n## ")[0]
    assert re.search(rf"^\d\. `{signal_type}`: \w", when, flags=re.MULTILINE)


@pytest.mark.parametrize("value", ["0.3", "0.7", "0.9"])
def test_020_signals_prompt_calibrates_confidence(value):
    calibration = TEXT.partition("## Confidence")[2].partition("\n## ")[0]
    assert re.search(rf"^\| {re.escape(value)} \| \w.* \|$", calibration, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "mistake", ["Several signals", "inside a sentence or in the middle", "in a code fence", "after the signal"]
)
def test_020_signals_prompt_names_the_anti_patterns(mistake):
    assert mistake in TEXT.partition("## Mistakes to avoid")[2]


def test_the_prompt_as_a_whole_is_no_signal_when_the_model_quotes_its_format_in_a_fence():
    fence = re.search(r"```xml\n.*?\n```", TEXT, flags=re.DOTALL)
    assert fence is not None
    quoted = f"It looks like this:\n\n{fence.group()}"
    assert parse(quoted).signal is None
    assert parse(quoted).text == quoted
