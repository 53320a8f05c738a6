"""Mistakes of a scenario file are reported all together, with their places."""

import pytest

from oracle.features.scenarios.files import ScenarioFileError, from_yaml, read_scenario_file, to_yaml
from oracle.features.scenarios.model import (
    Earlier,
    Moment,
    OutsideEvent,
    Scenario,
    SignalLine,
    ToolAnswer,
    ToolScript,
    Turn,
)
from oracle.llm.protocol import ModelFault, Usage
from oracle.testing import ScriptedCall, ScriptedSearch

BROKEN = """\
scenarios:
  - name: Broken
    limit: { max_iterations: 1 }
    limits: { max_iterations: 99 }
    model:
      - { text: A., signal: nead_turn }
      - { txt: B. }
      - { text: C., fault: provider_failure, tokens: many }
    events: [{ cancle: { at_s: 1 } }, { cancel: { in_s: 1 } }]
    tools: { search_code: { eror: broken } }
    expect:
      reson: completed
      turns: two
      notices: [limit_reached: 3]
      chunks: [contents]
      answer: { contain: x }
"""


def mistakes_of(text):
    with pytest.raises(ScenarioFileError) as caught:
        from_yaml(text, file="broken.yaml")
    return caught.value


def test_all_mistakes_are_reported_with_place_and_hint():
    found = [(each.place.line, each.place.column, each.message, each.hint) for each in mistakes_of(BROKEN).mistakes]
    assert [(line, column) for line, column, _, _ in found] == [
        (3, 5), (4, 31), (6, 29), (7, 11), (8, 28), (8, 54), (9, 16), (9, 51), (10, 29), (12, 7), (13, 14), (14, 32),
        (15, 16), (16, 17),
    ]  # fmt: skip
    hints = {line: hint for line, _, _, hint in found}
    assert hints[3] == "did you mean 'limits'?"
    assert hints[7] == "did you mean 'text'?"
    assert hints[10] == "did you mean 'error'?"
    assert hints[6] == "did you mean 'need_turn'?"
    assert hints[12] == "did you mean 'reason'?"
    assert "from 1 to 50, not 99" in found[1][2]


def test_a_mistake_reads_like_a_compilers():
    text = str(mistakes_of(BROKEN)).splitlines()
    assert text[0] == "broken.yaml:3:5: a scenario has no field 'limit'"
    assert text[2].strip() == "|     ^"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scenarios: 3", "'scenarios' must be a list, not 3"),
        ("[]", "a scenario file must be a mapping"),
        ("tree: oracle", "a scenario file needs 'scenarios'"),
        ("scenarios: [{ name: A }]", "a scenario needs 'expect'"),
        ("scenarios: [{ name: A, expect: {} }, { name: A, expect: {} }]", "is used on line 1 already"),
        (
            "scenarios: [{ name: A, expect: {}, model: [{ times: 1001 }] }]",
            "'model[0].times' must be at most 1000, not 1001",
        ),
        ("scenarios: [{ name: A, expect: {} }", "the bracket|did not find|not closed|expected"),
    ],
    ids=["no list", "no mapping", "no scenarios", "no expectation", "same name", "times", "syntax"],
)
def test_a_file_of_another_shape_is_refused(text, message):
    error = mistakes_of(text)
    assert any(part in str(error) for part in message.split("|")), str(error)


def test_a_file_that_is_not_there_is_a_mistake(tmp_path):
    with pytest.raises(ScenarioFileError, match="cannot be read"):
        read_scenario_file(tmp_path / "none.yaml")


FULL = Scenario(
    name="Everything: in one # scenario",
    shows=("012 US2-3", "1e3"),
    question="yes",
    tree="other",
    limits={"max_iterations": 3},
    available=("code", "web"),
    history=(Earlier(question="Before?", answer="Yes.", tool_errors=True),),
    tools={
        "search_code": ToolScript(
            answers=(
                ToolAnswer(result="one", when={"query": "a"}),
                ToolAnswer(error="broken", delay_s=2.5),
                ToolAnswer(empty=True, sources=(("code", "a.py"),)),
            )
        ),
        "probe": ToolScript(group="vault", writes=True, approve=True, answers=(ToolAnswer(hang=True),)),
    },
    model=(
        Turn(text="A plain one.\nOf two lines.\n"),
        Turn(text=("In ", "pieces"), thinking="Hm.", calls=(ScriptedCall("search_code", {"query": "a"}),)),
        Turn(signal=SignalLine(type="need_turn", fields={"reason": "more"}, confidence=None), times=3),
        Turn(text="null", usage=None, stop_reason="max_tokens", delay_s=1.5, hang=True, model="m"),
        Turn(text="0x1f", usage=Usage(3, 4, 5, 6), fault=ModelFault("provider_overloaded", "Busy: try later.")),
        Turn(calls=(ScriptedCall("read_file", "{broken"),), searches=(ScriptedSearch("q", (("http://a", "A"),), ""),)),
    ),
    events=(
        OutsideEvent(action="reader_leaves", moment=Moment(kind="at_s", value=3.5)),
        OutsideEvent(action="delivery", moment=Moment(kind="said", value="In"), key="at_s", value={"yes": ["1", 2]}),
        OutsideEvent(action="delivery", moment=Moment(kind="request", value=2), key="approved"),
    ),
    expect={"reason": "completed", "answer": {"contains": ["a", "b"]}, "visited": [{"llm_turn": 2}]},
)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("{ value: 1, at_s: 2 }", "'events[0].delivery' needs 'key'"),
        ("{ key: approved, at_s: 2 }", "'events[0].delivery' needs 'value'"),
        ("{ key: approved, value: 1 }", "it has one of at_s, request, said, call, notice"),
        ("{ key: approved, value: 1, at_s: 2, said: x }", "it has one of at_s, request, said, call, notice"),
        ("{ key: approved, value: 1, at: 2 }", "'events[0].delivery' has no 'at'"),
        ("{ key: 3, value: 1, at_s: 2 }", "'events[0].delivery.key' must be text, not 3"),
        ("{ at_s: 2 }", "'events[0].delivery' needs 'key'"),
        ("approved", "'events[0].delivery' must be a mapping, not 'approved'"),
    ],
)
def test_a_delivery_with_a_mistake_is_reported(event, message):
    text = f"scenarios: [{{ name: A, expect: {{}}, events: [{{ delivery: {event} }}] }}]"
    assert any(message in each.message for each in mistakes_of(text).mistakes)


def test_what_is_written_is_read_again_the_same():
    assert from_yaml(to_yaml([FULL], about="A file.")) == (FULL,)
