"""Plays scenarios of tests on the shipped trees."""

from functools import cache

from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.features.scenarios.files import from_yaml
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.playing import Player
from trees import FOLDER

WAITING = """\
tree: waiting
blackboard:
  approved: { type: bool, from: delivery }
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn
    - wait: { for: approved, timeout_s: 30 }
    - say: "Approved: {approved}."
    - stop: completed
"""
"""A tree that waits for something from outside."""


@cache
def player(*folders):
    return Player(TreeLibrary([*folders, FOLDER], registry=REGISTRY))


def played(text, *folders):
    """The verdict on the one scenario of a file, with trees of these folders before those that ship."""
    (scenario,) = from_yaml(text, file="test.yaml")
    return judge(scenario, player(*folders).play(scenario))
