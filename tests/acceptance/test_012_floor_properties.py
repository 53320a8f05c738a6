"""Whatever tree, skill, model and tools do: each query ends in time, within its limits, and says why (decision 31)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, given, settings

from bt_runtime import TreeFileError
from oracle.agent.ending import LEAST_S
from oracle.agent.nodes import REGISTRY
from tests.acceptance import wild
from tests.acceptance.wild import CANCELS, CONTROLS, LIMITS, ROOTS, SCRIPTS, TOOL_SCRIPTS, Ended, play

FOLDER = Path(__file__).parent.parent / "data" / "broken_trees"
BROKEN = {file.stem: file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.yaml"))}
QUICK_S = 0.1
TRIES = 4
"""A busy machine may be late once; a run that hangs is late each time."""

WILD = given(root=ROOTS, script=SCRIPTS, tools=TOOL_SCRIPTS, limits=LIMITS, cancel_at_s=CANCELS)
SKILLS = given(control=CONTROLS, script=SCRIPTS, tools=TOOL_SCRIPTS, limits=LIMITS, cancel_at_s=CANCELS)


def examples(number: int) -> Any:
    return settings(
        max_examples=number, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
    )


async def check(control: Any, *, limits: Mapping[str, int], cancel_at_s: float | None, **options: Any) -> Ended:
    for _ in range(TRIES):
        ended = await play(control, limits=limits, cancel_at_s=cancel_at_s, **options)
        wild.check_bounds(ended, limits)
        wild.check_reason(ended, limits)
        wild.check_requests(ended)
        if ended.took_s < QUICK_S:
            return ended
    raise AssertionError(f"from the cancel to the end: {ended.took_s:.3f} s")


async def check_tree(root: Any, **options: Any) -> None:
    with suppress(TreeFileError):  # told before anything ran
        await check(wild.tree_file(root), **options)


@examples(60)
@WILD
@pytest.mark.long("asks whole queries of many trees")
async def test_any_tree_ends_in_time_within_its_limits_and_says_why(root: Any, **options: Any) -> None:
    await check_tree(root, **options)


async def test_turns_side_by_side_that_never_end_keep_to_one_budget() -> None:
    root = {"loop": {"child": {"parallel": ["llm_turn", {"force_success": {"llm_turn": {"visible": False}}}]}}}
    limits = {"max_iterations": 2, "token_budget": 50_000, "timeout_seconds": 10, "max_parallel_tools": 1}
    await check_tree(root, script=["floods"], tools=[], limits=limits, cancel_at_s=None)


async def test_what_a_tree_says_when_it_is_halted_does_not_follow_the_sentence_that_says_why_it_stopped() -> None:
    root = {"on_halt": {"child": {"sequence": ["explain_stop", "llm_turn"]}, "then": {"say": "Halted."}}}
    limits = {"max_iterations": 1, "token_budget": 1_000, "timeout_seconds": 10, "max_parallel_tools": 1}
    await check_tree(root, script=["answers"], tools=[], limits=limits, cancel_at_s=None)


async def test_a_turn_beside_the_sentence_that_says_why_the_query_stopped_does_not_add_to_it() -> None:
    approved = {"force_success": {"approve": {"message": "May it end?", "child": {"once": "explain_stop"}}}}
    root = {"loop": {"child": {"parallel": ["llm_turn", approved]}}}
    limits = {"max_iterations": 1, "token_budget": 1_000, "timeout_seconds": 10, "max_parallel_tools": 1}
    await check_tree(root, script=["answers"], tools=[], limits=limits, cancel_at_s=None)


async def test_a_tree_that_works_on_without_waiting_ends_soon_after_a_cancel() -> None:
    tree = wild.tree_file({"repeat": {"times": 900, "child": {"sequence": ["compose_prompt"] * 4}}})
    limits = {"max_iterations": 6, "token_budget": 50_000, "timeout_seconds": 60, "max_parallel_tools": 1}
    ended = await check(tree, script=["answers"], tools=[], limits=limits, cancel_at_s=0.0)
    assert ended.answered.reason == "user_cancelled"


@pytest.mark.parametrize("cancel_at_s", [4.0, None])
async def test_work_that_ignores_its_cancellation_one_after_the_other_shares_one_time(
    cancel_at_s: float | None,
) -> None:
    guarded = {"guarded": {"guards": ["cancelled", "deadline"], "child": "llm_turn"}}
    tree = wild.tree_file({"parallel": {"failure": "unreachable", "children": [guarded, {"action": "probe"}]}})
    limits = {"max_iterations": 6, "token_budget": 50_000, "timeout_seconds": 10, "max_parallel_tools": 1}
    with structlog.testing.capture_logs() as logs:
        await check(tree, script=["stubborn"], tools=["stubborn"], limits=limits, cancel_at_s=cancel_at_s)
    graces = [entry["grace_s"] for entry in logs if entry["event"].endswith(".ignored_cancellation")]
    assert graces[-1] == LEAST_S


@pytest.mark.soak
@examples(4_000)
@WILD
async def test_any_tree_ends_in_time_at_length(root: Any, **options: Any) -> None:
    await check_tree(root, **options)


@examples(30)
@SKILLS
async def test_any_skill_ends_in_time_within_its_limits_and_says_why(control: Any, **options: Any) -> None:
    await check(control, **options)


@pytest.mark.soak
@examples(1_500)
@SKILLS
async def test_any_skill_ends_in_time_at_length(control: Any, **options: Any) -> None:
    await check(control, **options)


LIMITED = {"max_iterations": 5, "token_budget": 20_000, "timeout_seconds": 30, "max_parallel_tools": 2}
PLAYED: Sequence[tuple[Sequence[str], float | None]] = (
    (["answers"], None),
    (["tools"], None),
    (["fails"], None),
    (["tools", "hangs"], None),
    (["hangs"], 1.0),
    (["stubborn"], 1.0),
)


@pytest.mark.long("plays every broken tree with every script")
@pytest.mark.parametrize("name", BROKEN)
async def test_trees_that_control_badly_end_as_any_other(name: str) -> None:
    for script, cancel_at_s in PLAYED:
        with suppress(TreeFileError):  # told before anything ran
            await check(name, text=BROKEN[name], script=script, tools=[], limits=LIMITED, cancel_at_s=cancel_at_s)


def test_the_trees_are_made_of_all_kinds() -> None:
    text = Path(wild.__file__).read_text(encoding="utf-8")
    assert not [kind for kind in REGISTRY.kinds if f'"{kind}"' not in text]
