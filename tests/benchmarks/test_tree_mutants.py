"""Small changes of the shipped trees are noticed, or listed with the reason why nobody can."""

import os

import pytest

from benchmarks.tree_mutants import expressions
from benchmarks.tree_mutants.graphs import graph_of, is_installed, objections
from benchmarks.tree_mutants.mutating import mutants_of
from benchmarks.tree_mutants.report import AIM, equivalents
from benchmarks.tree_mutants.running import run, shipped
from benchmarks.tree_mutants.spans import YamlText
from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from trees import FOLDER

TREE = """\
tree: small
blackboard:
  tries: { type: int, default: 2 }  # how often
root:
  sequence:
    - condition: tries > 0 and not cut_off # a comment stays
    - force_success:
        set: { tries: tries - 1, hint: "'Go on.'" }
    - stop: completed
"""
SAMPLE = 24


@pytest.fixture
def small(tmp_path):
    (tmp_path / "small.yaml").write_text(TREE, encoding="utf-8")
    return {mutant.name.partition(" ")[2]: mutant for mutant in mutants_of(tmp_path / "small.yaml")}


def test_nodes_conditions_numbers_reasons_and_texts_are_changed(small):
    assert {
        "sequence/condition remove: condition",
        "sequence/condition swap: condition",
        "sequence/condition negate: tries > 0 and not cut_off -> not (tries > 0 and not cut_off)",
        "sequence/condition and-or: tries > 0 and not cut_off -> (tries > 0 or not cut_off)",
        "sequence/condition drop-not: tries > 0 and not cut_off -> tries > 0 and cut_off",
        "sequence/condition comparison: tries > 0 and not cut_off -> tries >= 0 and not cut_off",
        "sequence/condition number: tries > 0 and not cut_off -> tries > 1 and not cut_off",
        "sequence kind: sequence -> selector",
        "sequence/force_success unwrap: force_success",
        "sequence/force_success/set drop-setting: hint",
        "sequence/force_success/set arithmetic: tries - 1 -> tries + 1",
        "sequence/force_success/set text: 'Go on.' -> 'Something else.'",
        "sequence/stop reason: completed -> stuck",
        "blackboard/tries default: 2 -> 3",
    } <= set(small)


def test_a_change_leaves_the_rest_of_the_file_as_it_is(small):
    removed = small["sequence/condition remove: condition"]
    assert removed.text == TREE.replace("- condition: tries > 0 and not cut_off", "")
    assert (removed.line, str(removed)) == (6, "small.yaml:6:remove condition")
    swapped = small["sequence/condition swap: condition"]
    assert [line.strip() for line in swapped.text.splitlines()[5:8]] == [
        "- force_success:",
        "set: { tries: tries - 1, hint: \"'Go on.'\" } # a comment stays",
        "- condition: tries > 0 and not cut_off",
    ]


def test_names_do_not_depend_on_lines_and_are_unique(tmp_path, small):
    (tmp_path / "small.yaml").write_text(f"# one more line\n{TREE}", encoding="utf-8")
    assert [mutant.name.partition(" ")[2] for mutant in mutants_of(tmp_path / "small.yaml")] == list(small)


@pytest.mark.parametrize("text", ["[a, b, c]", "{ a: 1, b: 2, c: 3 }"])
@pytest.mark.parametrize("index", [0, 1, 2])
def test_an_item_of_one_line_is_removed_with_its_comma(text, index):
    yaml_text = YamlText(f"root: {text}")
    collection = yaml_text.root.value[0][1]
    if text.startswith("["):
        edit = yaml_text.without_item(collection, collection.value[index])
    else:
        edit = yaml_text.without_entry(collection, *collection.value[index])
    left = YamlText(edit.applied(yaml_text.text)).root.value[0][1].value
    assert len(left) == 2


def test_a_word_takes_the_place_of_another_and_the_last_one_that_of_the_first():
    assert expressions.after("b", ["a", "b"]) == "a"
    assert list(expressions.changed('signal == "a"', words=["a", "b"]))[-1] == ("word", 'signal == "b"')
    assert expressions.after("a", ["a"]) is None


def test_there_are_enough_mutants_and_each_has_its_own_name():
    names = [mutant.name for mutant in shipped()]
    assert len(names) == len(set(names)) >= 150


def test_the_list_of_equivalents_has_only_mutants_that_exist_and_a_reason_for_each():
    listed = equivalents()
    assert set(listed) <= {mutant.name for mutant in shipped()}
    assert all(len(reason.split()) > 5 and reason.endswith(".") for reason in listed.values())


def test_each_mutant_of_a_sample_is_noticed_or_listed():
    figures = run(shipped(SAMPLE))
    assert not figures.unnoticed, "\n".join(figures.lines())


@pytest.mark.soak
def test_nearly_all_mutants_that_change_behaviour_are_noticed():
    figures = run(shipped(), workers=os.cpu_count() or 1)
    assert figures.share >= AIM, "\n".join(figures.lines())


def test_the_graph_of_a_tree_has_its_leaves_and_what_follows_each():
    graph = graph_of(TreeLibrary([FOLDER], registry=REGISTRY).load("oracle"))
    turn = "finally/sequence/turns/sequence/llm_turn"
    assert graph.kinds[turn] == "llm"
    assert ("finally/sequence#2/explain_stop", "finally/sequence#2/finish") in graph.edges
    assert ("finally/sequence#2/finish", "exit") in graph.edges
    stops = [target for source, target in graph.edges if graph.labels[source].startswith("stop:")]
    assert set(stops) == {"finally/sequence#2/explain_stop"}


@pytest.mark.skipif(not is_installed(), reason="agentproofx is in the group of the benchmarks")
def test_the_shipped_tree_has_the_properties_that_its_graph_is_asked_about():
    assert not list(objections(TreeLibrary([FOLDER], registry=REGISTRY).load("oracle")))
