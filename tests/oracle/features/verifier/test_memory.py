"""A state that is restored goes on exactly as it did before."""

import random

import pytest

from oracle.features.verifier.events import Event
from oracle.features.verifier.verify import Scope, exploration_of
from tests.oracle.features.verifier.verified import guarded, shipped

KINDS = """
sequence:
  - once: { child: { action: { call: vault_list, into: listed } } }
  - timeout: { seconds: 20, child: llm_turn }
  - wait: { seconds: 2 }
  - selector:
      - retry: { attempts: 2, backoff_s: 1, child: { sequence: [{ condition: tool_calls > 0 }, run_tools] } }
      - stop: completed
"""
TREES = {
    "shipped": shipped,
    "kinds": lambda: guarded(KINDS, more="  listed: { type: str, default: '' }"),
}


class Walk:
    """A random way through a tree, on which each step is recorded."""

    def __init__(self, definition, seed):
        exploration = exploration_of(definition, Scope(turns=3))
        self.world, self.options = exploration.world, exploration.options
        self.begin = exploration.begins[0]
        self.random = random.Random(seed)

    def step(self, event: Event):
        """Play an event; all that it does, as text."""
        records: list[object] = []
        self.world.on_tick = records.append
        self.world.play(event)
        self.world.on_tick = None
        world = self.world
        parts = (world.chunks, world.agent.state, world.agent.transcript, world.store, world.next_deadline_s)
        return repr((records, parts, dict(world.tree.blackboard._values)))

    def choose(self) -> Event:
        return self.random.choice(list(self.options.of(self.world)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tree", TREES)
def test_a_run_that_is_taken_back_does_the_same_again(tree, seed):
    walk = Walk(TREES[tree](), seed)
    walk.step(walk.begin)
    middle = walk.world.save()
    played: list[tuple[Event, str]] = []
    while not walk.world.progress.is_over and len(played) < 12:
        event = walk.choose()
        played.append((event, walk.step(event)))
    assert played
    walk.world.restore(middle)
    assert [(event, walk.step(event)) for event, _ in played] == played


@pytest.mark.parametrize("tree", TREES)
def test_a_state_is_as_it_was_after_other_ways_from_it(tree):
    walk = Walk(TREES[tree](), 1)
    walk.step(walk.begin)
    here = walk.world.save()
    events = list(walk.options.of(walk.world))
    results = []
    for event in events:
        walk.world.restore(here)
        results.append(walk.step(event))
    for event, result in reversed(list(zip(events, results, strict=True))):
        walk.world.restore(here)
        assert walk.step(event) == result
