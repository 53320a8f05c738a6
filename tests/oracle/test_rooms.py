"""In a checkout the rooms have two names, and the same objects under both."""

import importlib

import pytest


@pytest.mark.parametrize("room", ["prompts", "signals", "trees"])
def test_both_names_of_a_room_give_the_same_objects(room):
    outside, inside = importlib.import_module(room), importlib.import_module(f"oracle.{room}")
    assert inside.__all__ == outside.__all__
    assert all(getattr(inside, name) is getattr(outside, name) for name in outside.__all__)
