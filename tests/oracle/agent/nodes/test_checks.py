"""The judgment of trees that can be read and control badly."""

from pathlib import Path

import pytest

import trees
from bt_runtime import TreeLibrary
from bt_runtime.analysis.files import CheckedFile, check_files
from oracle.agent.nodes import REGISTRY

BROKEN = Path(__file__).parents[3] / "data" / "broken_trees"
SOUND = Path(__file__).parents[3] / "data" / "sound_trees"
LIBRARY = TreeLibrary([trees.FOLDER], registry=REGISTRY)

EXPECTED = {
    "answer_after_the_guards": [(16, "after-stop")],
    "backoff_longer_than_timeout": [(10, "backoff-over-timeout")],
    "branch_after_always_success": [(9, "unreachable")],
    "branch_after_force_success": [(15, "unreachable")],
    "explain_stop_in_the_loop": [(14, "after-stop")],
    "fallback_grants_without_end": [(18, "turns-without-end")],
    "guard_as_a_step": [(12, "guard-as-step"), (13, "guard-as-step"), (14, "guard-as-step")],
    "impossible_signal": [(15, "condition-always-false")],
    "inner_loop_eats_the_outer": [(11, "loop-never-runs"), (20, "after-stop")],
    "inner_timeout_longer": [(11, "timeout-never-reached")],
    "inverted_guard": [(9, "inverted-guard")],
    "llm_turn_as_guard": [(10, "waiting-guard")],
    "loop_without_end_then_stop": [(7, "unbounded-turns"), (12, "unreachable")],
    "no_cancelled_guard": [(7, "no-cancelled-guard")],
    "no_compose_prompt": [(6, "no-prompt")],
    "no_deadline_guard": [(7, "no-deadline-guard")],
    "no_llm_turn": [(8, "no-answer")],
    "notify_in_guards": [(13, "act-in-guards")],
    "optional_step_not_forced": [(9, "unhandled-failure")],
    "parallel_one_with_a_condition": [(10, "parallel-decided-at-once")],
    "retry_of_what_cannot_fail": [(16, "retry-without-failure")],
    "retry_without_limit": [(7, "retry-without-limit")],
    "second_stop_ignored": [(10, "stop-ignored")],
    "set_in_guards": [(14, "act-in-guards")],
    "shadowed_condition": [(16, "condition-always-false")],
    "signal_read_after_tools_only": [(13, "unhandled-failure")],
    "stop_before_answer": [(8, "loop-never-runs")],
    "stop_hides_follow_signal": [(16, "unreachable")],
    "talk_after_finish": [(10, "after-finish"), (11, "after-finish")],
    "timeout_fails_the_query": [(12, "unhandled-failure")],
    "tools_false_then_use_tools": [(9, "subtree-always-fails")],
    "two_turns_without_tools_between": [(8, "calls-not-run")],
}


def check(path: Path) -> CheckedFile:
    (checked,) = check_files(LIBRARY, [path]).files
    return checked


@pytest.mark.parametrize("name", EXPECTED)
def test_a_tree_that_controls_badly_gets_its_warning_on_its_line(name: str) -> None:
    found = [(warning.place.line, warning.code) for warning in check(BROKEN / f"{name}.yaml").warnings]
    assert set(EXPECTED[name]) <= set(found)


@pytest.mark.parametrize("path", sorted(trees.FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_shipped_trees_have_no_warnings(path: Path) -> None:
    assert check(path).warnings == ()


@pytest.mark.parametrize("path", sorted(SOUND.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_tree_that_controls_well_has_no_warnings(path: Path) -> None:
    checked = check(path)
    assert (checked.mistakes, checked.warnings) == ((), ())


def test_there_are_many_trees_that_control_well() -> None:
    assert len(list(SOUND.glob("*.yaml"))) > 30


@pytest.mark.parametrize("name", ["second_stop_ignored", "talk_after_finish", "notify_in_guards"])
def test_a_fix_removes_its_warning(name: str, tmp_path: Path) -> None:
    path = BROKEN / f"{name}.yaml"
    warning = next(warning for warning in check(path).warnings if warning.fixes)
    (edit,) = warning.fixes[0].edits
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert (edit.start.column, edit.end.column, edit.text) == (1, 1, "")
    fixed = tmp_path / path.name
    fixed.write_text("".join(lines[: edit.start.line - 1] + lines[edit.end.line - 1 :]), encoding="utf-8")
    left = check(fixed)
    assert left.mistakes == ()
    assert warning.message not in [other.message for other in left.warnings]


ROUNDS = (
    "loop: { until: termination_reason, guards: [cancelled, turn_budget, deadline], child: { sequence: "
    "[llm_turn, STEP, selector: [subtree: use_tools, subtree: follow_signal]] } }"
)
VARIANTS = {
    "a set that counts hides the model": (
        "selector: [set: { rounds: rounds + 1 }, llm_turn: { tools: false }]",
        "unreachable",
    ),
    "the lower limit stands behind": (
        (
            "loop: { until: termination_reason, guards: [cancelled, turn_budget: 10, turn_budget: 5, deadline], "
            "child: { sequence: [llm_turn, selector: [subtree: use_tools, subtree: follow_signal]] } }"
        ),
        "guard-never-trips",
    ),
    "the user's limit stands before a lower one": (
        (
            "loop: { until: termination_reason, guards: [cancelled, turn_budget, deadline, turn_budget: 5], "
            "child: { sequence: [llm_turn, selector: [subtree: use_tools, subtree: follow_signal]] } }"
        ),
        "redundant-guard",
    ),
    "a guard that is forced": (
        (
            "loop: { until: termination_reason, guards: [force_success: cancelled, turn_budget, deadline], "
            "child: { sequence: [llm_turn, selector: [subtree: use_tools, subtree: follow_signal]] } }"
        ),
        "guard-never-trips",
    ),
    "more turns than a query has": ("repeat: { times: 100, child: { llm_turn: { tools: false } } }", "unbounded-turns"),
    "a loop of tools": ("loop: { guards: [cancelled], child: { action: list_files } }", "unbounded-turns"),
    "the end first": ("sequence: [finish, llm_turn: { tools: false }]", "after-finish"),
    "an invisible turn alone": ("llm_turn: { visible: false, into: plan }", "no-answer"),
    "no alternative for the rest": (
        (
            "selector: [sequence: [condition: query_type == 'code', llm_turn: { tools: false }], "
            "sequence: [condition: query_type == 'research', say: No.]]"
        ),
        "unhandled-failure",
    ),
    "grants after each round": (
        (
            "loop: { until: termination_reason, guards: [cancelled, turn_budget, deadline], "
            "child: { sequence: [llm_turn, force_success: { subtree: use_tools }, grant_turn] } }"
        ),
        "turns-without-end",
    ),
    "a selector that cannot fail is tried again": (
        "retry: { attempts: 3, child: { selector: [llm_turn: { tools: false }, say: No.] } }",
        "retry-without-failure",
    ),
    **{
        f"in each round {what}": (ROUNDS.replace("STEP", step), "cache-missed")
        for what, step in {
            "another model": "llm_turn: { model: other }",
            "a turn without tools": "llm_turn: { tools: false }",
            "a turn beside the answer": "llm_turn: { visible: false, into: plan }",
            "that one in a sequence": "sequence: [llm_turn: { visible: false, into: plan }, set: { hint: plan }]",
            "further tools": "force_success: { offer_tools: [vault_write] }",
        }.items()
    },
    "nine hundred attempts": (
        "selector: [retry: { attempts: 900, backoff_s: 1, child: { llm_turn: { tools: false } } }, say: No.]",
        "retry-without-limit",
    ),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_other_trees_of_that_sort_are_found_as_well(name: str, tmp_path: Path) -> None:
    node, code = VARIANTS[name]
    path = tmp_path / "variant.yaml"
    path.write_text(
        "tree: variant\nblackboard: { rounds: { type: int, default: 0 }, plan: { type: str, default: '' } }\n"
        f"root:\n  sequence:\n    - classify_query\n    - compose_prompt\n    - {node}\n    - stop: completed\n",
        encoding="utf-8",
    )
    found = check(path)
    assert found.mistakes == ()
    assert code in [warning.code for warning in found.warnings]


@pytest.mark.parametrize(
    "step",
    [
        "force_success: { sequence: [condition: turn == 3, llm_turn: { visible: false, into: plan }] }",
        "if: { when: turn == 3, then: { llm_turn: { model: other } } }",
        "selector: [condition: turn < 3, llm_turn: { tools: false }]",
        "once: { offer_tools: [vault_write] }",
        "force_success: { sequence: [condition: nothing_found, offer_all_reading_tools] }",
    ],
)
def test_what_comes_on_a_condition_misses_no_cache_in_each_round(step: str, tmp_path: Path) -> None:
    path = tmp_path / "variant.yaml"
    path.write_text(
        "tree: variant\nblackboard: { plan: { type: str, default: '' } }\n"
        f"root:\n  sequence:\n    - classify_query\n    - compose_prompt\n    - {ROUNDS.replace('STEP', step)}\n",
        encoding="utf-8",
    )
    found = check(path)
    assert found.mistakes == ()
    assert "cache-missed" not in [warning.code for warning in found.warnings]
