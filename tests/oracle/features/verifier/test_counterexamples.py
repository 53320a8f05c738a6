"""A counterexample as a scenario does the same when it is played, and as a recording it has the service's form."""

import json

import pytest

from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.features.scenarios.files import from_yaml
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.playing import Player
from oracle.features.verifier.stories import recording_of, scenario_file
from tests.oracle.features.verifier.verified import PLAIN_TREE, RULED, verified

HASTY = PLAIN_TREE.format(nodes="")
WRITES = RULED.replace("    ENFORCE\n", "")


@pytest.mark.parametrize(("tree", "name", "turns"), [(HASTY, "reason", 2), (WRITES, "rule write_once", 3)])
def test_the_scenario_of_a_counterexample_ends_in_the_same_way(tree, name, turns, tmp_path):
    (tmp_path / "sample.yaml").write_text(tree)
    story = verified(tree, turns=turns).result(name).story
    [scenario] = from_yaml(scenario_file(story.scenario, about="a counterexample"))
    assert scenario.expect["reason"]
    played = Player(TreeLibrary([tmp_path], registry=REGISTRY)).play(scenario)
    assert judge(scenario, played).passed


def test_the_recording_of_a_counterexample_has_its_ticks_and_the_paths_of_the_nodes():
    story = verified(HASTY).result("reason").story
    data = json.loads(recording_of(story))
    assert set(data) == {"run_id", "tree", "version", "nodes", "ticks", "next"}
    assert data["nodes"] == list(story.definition.paths)
    assert [tick["tick"] for tick in data["ticks"]] == list(range(1, len(data["ticks"]) + 1))
    assert data["ticks"][0]["cause"] == "start"
