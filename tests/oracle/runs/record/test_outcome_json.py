"""Outcomes survive the way into a log and back."""

from dataclasses import replace

import pytest

from bt_runtime import Outcome
from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.core.encoding import from_json
from oracle.decision import ToolAction
from oracle.llm.protocol import ModelFault, ToolUse
from oracle.runs.record.outcome_json import decode_outcome, encode_outcome, outcome_kind
from signals import parse

CALL = ToolUse("call_1", "search_code", {"query": "auth", "limit": 5})
ACTION = ToolAction.from_call("search_code", {"query": "auth"})
RESULT = CallResult(CALL, "src/auth.py:1", False, True, False, "code", ACTION, began=True)
TURN = TurnOutcome(
    parsed=parse('Hello.\n<signal type="need_turn"><reason>more</reason><confidence>0.9</confidence></signal>'),
    content=({"type": "thinking", "thinking": "…", "signature": "s"}, {"type": "text", "text": "Hello."}),
    calls=(CALL,),
    stop_reason="tool_use",
    tokens=120,
    output_tokens=20,
    cache_creation_tokens=30,
    cache_read_tokens=7,
    model="m",
    duration_ms=7,
)


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        pytest.param(Outcome("loop/llm_turn@1", "done", TURN, at_s=1.5), "turn_end", id="a turn"),
        pytest.param(Outcome("a@1", "done", TurnOutcome()), "turn_end", id="an empty turn"),
        pytest.param(
            Outcome("a@1", "cancelled", TurnOutcome(parsed=parse("x <signal type='no'></signal>"), interrupted=True)),
            "turn_end",
            id="an interrupted turn with a malformed signal",
        ),
        pytest.param(
            Outcome("a@1", "done", TurnOutcome(fault=ModelFault("provider_failed", "broke", "why", {"status": 500}))),
            "turn_end",
            id="a failed turn",
        ),
        pytest.param(Outcome("loop/run_tools@1", "done", ToolsOutcome((RESULT,)), at_s=2.0), "tool_end", id="tools"),
        pytest.param(Outcome("a@1", "done", ToolsOutcome()), "tool_end", id="no tools"),
        pytest.param(Outcome("a@1", "failed", error="ValueError: no"), None, id="a failure"),
        pytest.param(Outcome("a@1", "done", {"text": "x", "n": [1, 2.5, None]}), None, id="plain data"),
    ],
)
def test_an_outcome_is_the_same_after_the_way_into_json_and_back(outcome, kind):
    assert outcome_kind(outcome) == kind
    assert decode_outcome(encode_outcome(outcome)) == outcome


def test_what_only_some_providers_say_is_absent_where_it_was_not_said():
    plain = from_json(encode_outcome(Outcome("a@1", "done", TURN)))["value"]
    assert not {"cache_miss", "message_id"} & plain.keys()
    missed = Outcome("a@1", "done", replace(TURN, cache_miss="tools_changed", message_id="msg_1"))
    assert decode_outcome(encode_outcome(missed)) == missed


def test_a_lone_surrogate_in_what_a_model_said_does_not_stop_the_log():
    outcome = Outcome("a@1", "done", TurnOutcome(content=({"type": "text", "text": "a\ud800b"},)))
    assert decode_outcome(encode_outcome(outcome)).value.content == ({"type": "text", "text": "a\ufffdb"},)
