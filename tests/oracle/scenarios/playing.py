"""Plays scenarios of tests on the shipped trees."""

from functools import cache

from bt_runtime import TreeLibrary
from oracle.nodes import REGISTRY
from oracle.scenarios import Player, from_yaml, judge
from oracle.trees import FOLDER


@cache
def player():
    return Player(TreeLibrary([FOLDER], registry=REGISTRY))


def played(text):
    """The verdict on the one scenario of a file."""
    (scenario,) = from_yaml(text, file="test.yaml")
    return judge(scenario, player().play(scenario))
