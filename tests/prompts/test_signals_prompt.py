"""The signal prompt against the reader of signals: the format that is taught is the one that is read."""

import re

import pytest

from bt_runtime.text import estimate_tokens
from prompts import Segment, load_segments
from signals import SIGNAL_MODELS, parse


def the_segment(segment_id: str) -> Segment:
    found = load_segments().get(segment_id)
    assert found is not None
    return found


TEXT = the_segment("signals").text
MORE = the_segment("signal-examples").text
SIX_TYPES = set(SIGNAL_MODELS)
EXAMPLE = re.compile(r'^<example signal="(\w+)">\n(.*?)\n</example>$', flags=re.MULTILINE | re.DOTALL)
EXAMPLES = EXAMPLE.findall(TEXT) + EXAMPLE.findall(MORE)
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


def test_020_signals_prompt_has_examples_of_whole_replies_the_usual_signals_first():
    assert [signal_type for signal_type, _ in EXAMPLE.findall(TEXT)] == ["context_sufficient", "partial_answer"]
    assert {signal_type for signal_type, _ in EXAMPLES} <= SIX_TYPES
    assert len(EXAMPLES) == (TEXT + MORE).count("<example signal=")


def test_the_instructions_on_signals_are_short():
    assert estimate_tokens(len(TEXT)) <= 1_100
    assert estimate_tokens(len(TEXT)) + estimate_tokens(len(MORE)) <= 1_400


def test_the_usual_signals_come_first_and_need_capability_after_stuck():
    listed = re.findall(r"^\d\. `(\w+)`: ", TEXT, flags=re.MULTILINE)
    assert listed == [
        "context_sufficient",
        "partial_answer",
        "need_turn",
        "stuck",
        "need_capability",
        "delegation_recommended",
    ]


def test_an_example_that_ends_with_a_question_to_the_user_has_the_signal_partial_answer():
    asking = [signal_type for signal_type, reply in EXAMPLES if parse(reply).text.rstrip().endswith("?")]
    assert asking == ["partial_answer"]


@pytest.mark.parametrize("segment", tuple(load_segments()), ids=lambda each: each.id)
def test_every_signal_that_a_segment_names_exists_and_has_no_second_rule_for_stuck(segment):
    named = set(re.findall(r"`((?:need|context|partial|delegation)_\w+|stuck)`", segment.text + segment.without_tools))
    fields = {name for model in SIGNAL_MODELS.values() for name in model.model_fields}
    assert named - fields <= SIX_TYPES
    assert segment.id in ("signals", "error-recovery") or "`stuck`" not in segment.text + segment.without_tools


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
    "mistake", ["Several signals", "inside a sentence, in the middle", "with text after it", "in a code fence"]
)
def test_020_signals_prompt_names_the_anti_patterns(mistake):
    assert mistake in TEXT.partition("## Mistakes to avoid")[2]


def test_the_template_of_the_format_stands_in_no_fence_that_a_model_would_copy():
    assert "```" not in TEXT
    assert '\n\n<signal type="TYPE">\n' in TEXT
