"""What the checker calls impossible does not happen in any run of the real agent."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import trees
from bt_runtime import TreeFileError, TreeLibrary
from bt_runtime.analysis.files import warnings_of
from bt_runtime.analysis.flow import flow_of
from bt_runtime.analysis.host import OverBudgetError
from bt_runtime.language.reading.loading import TreeSource
from oracle.agent.nodes import REGISTRY
from tests.acceptance import wild
from tests.acceptance.wild import CANCELS, LIMITS, ROOTS, SCRIPTS, TOOL_SCRIPTS, play

LIBRARY = TreeLibrary([trees.FOLDER], registry=REGISTRY)
WILD = given(root=ROOTS, script=SCRIPTS, tools=TOOL_SCRIPTS, limits=LIMITS, cancel_at_s=CANCELS)
RESULTS = {"SUCCESS": "success", "FAILURE": "failure", "RUNNING": "waiting"}


def examples(number: int) -> Any:
    return settings(
        max_examples=number, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
    )


async def check(root: Any, **options: Any) -> None:
    file = wild.tree_file(root)
    with suppress(TreeFileError):  # refused before anything runs
        tree = LIBRARY.load_source(TreeSource("wild.yaml", json.dumps(file), "wild"))
        warnings_of(tree, registry=REGISTRY)
        try:
            flow = flow_of(tree, registry=REGISTRY)
        except OverBudgetError:
            return
        ended = await play(file, **options)
        results = {node.path: flow.results(node) for node in tree.nodes()}
        for record in ended.answered.recording:
            visited = {tree.paths[index] for index in record.visited}
            assert {path for path in visited if not results[path]} == set()
            for index, after in record.changes:
                path, name = tree.paths[index], after.name
                assert name == "INVALID" or RESULTS[name] in results[path], (path, name, results[path])


@examples(15)
@WILD
async def test_no_node_that_cannot_be_reached_is_visited_and_no_result_is_missing(root: Any, **options: Any) -> None:
    await check(root, **options)


@pytest.mark.soak
@examples(4_000)
@WILD
async def test_nothing_impossible_happens_at_length(root: Any, **options: Any) -> None:
    await check(root, **options)
