"""Coverage counts nodes and the results that they can have, and names what is missing with its place."""

import pytest

from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.features.scenarios.coverage import Coverage, possible_results, total
from oracle.features.scenarios.files import from_yaml
from oracle.features.scenarios.playing import Player

TREE = """\
tree: small
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn
    - selector:
        - sequence:
            - condition: tool_calls > 0
            - run_tools
            - llm_turn
        - condition: signal != "stuck"
        - say: I am stuck.
    - stop: completed
"""


@pytest.fixture
def player(tmp_path):
    (tmp_path / "small.yaml").write_text(TREE)
    return Player(TreeLibrary([tmp_path], registry=REGISTRY))


def covered(player, *models):
    coverage = Coverage()
    for model in models:
        (scenario,) = from_yaml(f"tree: small\nscenarios: [{{ name: A, expect: {{}}, model: {model} }}]")
        coverage.add(player.play(scenario))
    (file,) = coverage.files()
    return file


def test_an_answer_visits_one_branch_only(player):
    file = covered(player, "[The answer.]")
    assert file.nodes == (9, 12)
    gaps = [(gap.place.line, gap.what) for gap in file.gaps]
    assert gaps == [
        (3, "never failed"),
        (6, "never failed"),
        (7, "was never running"),
        (8, "never succeeded"),
        (8, "was never running"),
        (9, "never succeeded"),
        (10, "was never visited"),
        (11, "was never visited"),
        (12, "never failed"),
        (13, "was never visited"),
    ]
    assert str(file.gaps[6]).endswith("small.yaml:10:15: run_tools was never visited")


def test_more_scenarios_close_the_gaps(player):
    some = covered(player, "[The answer.]")
    all_but_failures = covered(
        player,
        "[The answer.]",
        "[{ calls: [search_code] }, Found.]",
        "[{ text: No., signal: stuck }]",
        "[{ fault: provider_failed }]",
        "[{ calls: [search_code] }, { fault: provider_failed }]",
    )
    assert total([some]) < 70
    assert [str(gap).partition(": ")[2] for gap in all_but_failures.gaps] == []
    assert total([all_but_failures]) == 100


def test_a_tree_that_nothing_plays_counts_as_not_covered(player):
    coverage = Coverage()
    coverage.know(player.trees.load("small"))
    (file,) = coverage.files()
    assert file.covered[0] == 0
    assert {gap.what for gap in file.gaps} == {"was never visited"}


def test_what_a_node_can_return_follows_from_its_kind_and_its_children(player):
    results = {node.path: results for node, results in possible_results(player.trees.load("small"))}
    assert results["sequence/selector"] == {"SUCCESS", "RUNNING"}
    assert results["sequence/selector/condition"] == {"SUCCESS", "FAILURE"}
    assert results["sequence/stop"] == {"SUCCESS"}
    assert results["sequence/selector/sequence/run_tools"] == {"SUCCESS", "RUNNING"}


def test_branches_guards_and_kinds_that_wait_have_the_results_of_their_children(tmp_path):
    (tmp_path / "kinds.yaml").write_text("""\
tree: kinds
root:
  sequence:
    - if: { when: turn > 3, then: { condition: turn > 4 } }
    - if: { when: turn > 3, then: { set: { hint: "'a'" } }, else: { set: { hint: "'b'" } } }
    - guarded: { guards: [turn_budget], child: llm_turn }
    - inverter: { condition: turn > 3 }
    - force_success: { condition: turn > 3 }
    - stop: completed
""")
    tree = TreeLibrary([tmp_path], registry=REGISTRY).load("kinds")
    results = {node.path: results for node, results in possible_results(tree)}
    assert results["sequence/if"] == {"SUCCESS", "FAILURE"}
    assert results["sequence/if#2"] == {"SUCCESS"}
    assert results["sequence/guarded"] == {"SUCCESS", "FAILURE", "RUNNING"}
    assert results["sequence/guarded/llm_turn"] == {"SUCCESS", "FAILURE", "RUNNING", "HALTED"}
    assert results["sequence/guarded/turn_budget"] == {"SUCCESS", "FAILURE"}
    assert results["sequence/inverter"] == {"SUCCESS", "FAILURE"}
    assert results["sequence/force_success"] == {"SUCCESS"}
