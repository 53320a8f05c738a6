"""A turn that fails because of its provider, and the turn of another model behind it."""

from typing import get_args

import pytest

from bt_runtime.record.status import Status
from bt_runtime.testing import FakeClock
from oracle.core.chunks import Failed
from oracle.llm.protocol import FaultKind, ModelFault, OneOfSeveral
from tests.acceptance.harness import answers, calls, says, text_of
from tests.oracle.agent.nodes.running import run_nodes, statuses, written

DOWN = ModelFault("provider_overloaded", "The language model is overloaded.", "529")
CHAIN = """
- selector:
    - llm_turn: {model: strong}
    - sequence: [condition: model_fault == "overloaded", llm_turn: {model: fast}]
- stop: completed
"""


def models(answered):
    return [(request.model, request.retries) for request in answered.requests]


async def test_the_other_model_answers_and_the_query_completes_as_if_nothing_had_failed():
    answered = await run_nodes(CHAIN, [says(fault=DOWN), answers("Hello.")])
    assert (answered.reason, answered.kept) == ("completed", "Hello.")
    assert models(answered) == [("strong", False), ("fast", True)]
    assert written(answered, "model_fault") == ["overloaded", ""]
    assert answered.of(Failed) == []


async def test_without_the_branch_for_it_the_fault_ends_the_query():
    fault = ModelFault("provider_failed", "It broke.", narrower="broken_off")
    answered = await run_nodes(CHAIN, [says("Ha", fault=fault)])
    assert (answered.reason, answered.kept) == ("error", "Ha\n\nStopped: It broke.")
    assert written(answered, "model_fault") == ["broken_off"]


async def test_the_key_is_written_only_where_the_tree_names_it():
    answered = await run_nodes(
        "- selector: [llm_turn: {model: strong}, llm_turn: {model: fast}]", [says(fault=DOWN), answers()]
    )
    assert written(answered, "model_fault") == []


async def test_the_other_model_goes_on_where_the_text_of_the_first_one_ends():
    rest = answers("and the rest of it.")
    answered = await run_nodes(CHAIN, [says("A part ", fault=DOWN), rest])
    assert (answered.reason, answered.kept) == ("completed", "A part and the rest of it.")
    assert [message["role"] for message in answered.requests[1].messages][-3:] == ["assistant", "user", "system"]
    assert answered.requests[1].messages[-3]["content"] == [{"type": "text", "text": "A part "}]
    assert text_of(answered.requests[1].messages[-1]) == "Your last response was cut off. Go on exactly where it ended."


async def test_a_third_model_goes_on_with_the_text_of_the_first_one():
    nodes = """
    - selector: [llm_turn: {model: a}, llm_turn: {model: b, hint: Be brief.}, llm_turn: {model: c}]
    - stop: completed
    """
    answered = await run_nodes(nodes, [says("A part ", fault=DOWN), says(fault=DOWN), answers("and the rest.")])
    assert (answered.reason, answered.kept) == ("completed", "A part and the rest.")
    assert text_of(answered.requests[1].messages[-1]).endswith("where it ended.\n\nBe brief.")
    assert models(answered) == [("a", False), ("b", False), ("c", True)]


async def test_thinking_and_calls_of_the_turn_that_failed_do_not_go_to_the_other_model():
    broken = says("I look.", calls("search_code", query="a"), thinking="Hm.", fault=DOWN)
    answered = await run_nodes(CHAIN, [broken, answers("It is there.")])
    assert answered.requests[1].messages[-3]["content"] == [{"type": "text", "text": "I look."}]
    assert answered.kept == "I look.It is there."


async def test_what_a_model_declined_is_not_gone_on_with():
    nodes = "- selector: [llm_turn: {model: strong}, llm_turn: {model: fast}]\n- stop: completed"
    answered = await run_nodes(nodes, [says("I can not.", stop_reason="refusal"), answers("I can.")])
    assert answered.kept == "I can not.\n\nI can."


async def test_a_turn_that_takes_too_long_is_gone_on_with_by_the_other_model():
    nodes = """
    - selector:
        - llm_turn: {model: strong, timeout_s: 7.5}
        - sequence: [condition: model_fault == "timeout", llm_turn: {model: fast}]
    - stop: completed
    """
    answered = await run_nodes(nodes, [says("A part ", hang=True), answers("and the rest.")], clock=FakeClock())
    assert (answered.reason, answered.kept) == ("completed", "A part and the rest.")
    assert statuses(answered, "llm_turn") == [Status.RUNNING, Status.FAILURE, Status.RUNNING, Status.SUCCESS]


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("- selector: [llm_turn, llm_turn: {tools: false}]", True),
        ("- selector: [llm_turn: {model: a}, llm_turn: {model: b, visible: false, into: hint}]", True),
        ("- llm_turn\n- llm_turn: {model: b}", True),
        (
            "- selector: [force_failure: {llm_turn: {model: a}}, if: {when: failed, then: {llm_turn: {model: b}}}]",
            False,
        ),
    ],
    ids=["the same model", "beside the answer", "no selector", "below other nodes"],
)
async def test_a_turn_is_repeated_unless_another_model_stands_in(nodes, expected):
    answered = await run_nodes(nodes, [answers()] * 2)
    assert answered.requests[0].retries == expected


def test_each_kind_of_fault_is_one_that_trees_know():
    kinds = {ModelFault(f"provider_{kind}", "").kind for kind in ("auth", "failed", "overloaded", "refused")}
    assert kinds | {ModelFault("context_too_large", "").kind, *get_args(OneOfSeveral)} == set(get_args(FaultKind))
