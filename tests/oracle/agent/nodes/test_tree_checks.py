"""What the checker refuses in an agent's tree because it is certain to go wrong; and what it lets through."""

import pytest

from bt_runtime import TreeFileError
from bt_runtime.library.named import read_tree
from oracle.agent.nodes import REGISTRY


def mistakes(*steps: str) -> list[tuple[int, str]]:
    text = "tree: demo\nroot:\n  sequence:\n" + "".join(f"    - {step}\n" for step in steps)
    try:
        read_tree(text, file="<test>", registry=REGISTRY)
    except TreeFileError as error:
        return [(mistake.place.line, mistake.message) for mistake in error.mistakes]
    return []


TWICE = "the tools have already been run, on line 5"
BESIDE = "this turn and the one on line 4 would write the answer at the same time"


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (("llm_turn", "run_tools", "run_tools"), [(6, TWICE)]),
        (("llm_turn", "run_tools", "set: {hint: question}", "run_tools"), [(7, TWICE)]),
        (("llm_turn", "run_tools", "llm_turn", "run_tools"), []),
        (("llm_turn", "run_tools", "selector: [condition: failed, llm_turn]", "run_tools"), []),
        (("llm_turn", "selector: [run_tools, refuse_tools]", "refuse_tools"), []),
    ],
)
def test_tools_that_are_run_twice_after_one_turn(steps: tuple[str, ...], told: list[tuple[int, str]]) -> None:
    assert mistakes(*steps) == told


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("parallel: [llm_turn, llm_turn]", [(4, BESIDE)]),
        ("parallel: [sequence: [compose_prompt, llm_turn], retry: {attempts: 2, child: llm_turn}]", [(4, BESIDE)]),
        ("parallel: [finally: {child: llm_turn, then: finish}, inverter: llm_turn, run_tools]", [(4, BESIDE)]),
        ("parallel: {max_concurrent: 1, children: [llm_turn, llm_turn]}", []),
        ("parallel: [llm_turn, llm_turn: {visible: false}, llm_turn: {visible: false}]", []),
        ("parallel: [llm_turn, sequence: [condition: failed, llm_turn]]", []),
        ("parallel: [llm_turn, if: {when: failed, then: llm_turn}]", []),
        ("parallel: [llm_turn, switch: {value: question, cases: {a: llm_turn}}]", []),
        ("parallel: [once: llm_turn, once: llm_turn]", []),
        ("parallel: [llm_turn, on_halt: {child: llm_turn, then: {say: Halted.}}]", [(4, BESIDE)]),
        ("parallel: {until: first_end, children: [llm_turn, llm_turn]}", [(4, BESIDE)]),
        ("parallel: [llm_turn, guarded: {guards: [turn_budget], child: llm_turn}]", []),
        ("parallel: [llm_turn, loop: {guards: [turn_budget], child: llm_turn}]", []),
    ],
)
def test_turns_that_would_speak_at_once(step: str, told: list[tuple[int, str]]) -> None:
    assert mistakes(step) == told
