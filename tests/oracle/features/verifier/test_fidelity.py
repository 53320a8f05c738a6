"""What the verifier plays is what the real control does: random ways, played again on virtual time by the run loop."""

import random

import pytest

from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.core.chunks import Closing, Done, SystemNotice
from oracle.features.scenarios.playing import Player
from oracle.features.verifier.events import Decided
from oracle.features.verifier.stories import tell
from oracle.features.verifier.verify import Scope, exploration_of
from tests.oracle.features.verifier.verified import GUARDED as TREE_AROUND
from tests.oracle.features.verifier.verified import shipped, tree_of
from trees import FOLDER

ASKING = TREE_AROUND.format(
    max_turns=3,
    more="  branch: { type: str, default: '' }",
    child="""\
              sequence:
                - llm_turn
                - selector:
                    - sequence: [{ condition: tool_calls > 0 }, { run_tools: { approve: [search_code] } }]
                    - sequence:
                        - ask_user: { question: Which?, options: [main, release], into: branch }
                        - condition: branch == 'main'
                        - grant_turn
                    - approve: { message: Enough?, child: { stop: completed } }
                    - stop: no_progress""",
)


def a_story(seed, tree=None):
    """A random way to an end that a scenario can express; `None` if this one cannot be expressed."""
    chooses = random.Random(seed)
    exploration = exploration_of(tree or shipped(), Scope(turns=3))
    world, options = exploration.world, exploration.options
    events = [exploration.begins[0]]
    world.play(events[0])
    while not world.progress.is_over and len(events) < 20:
        forms = list(options.of(world))
        before = world.save()
        event = chooses.choice(forms)
        world.play(event)
        more = [] if world.progress.is_over else list(options.variants(world, event, exploration.identity.ahead()))
        if more:
            event = chooses.choice([event, *more])
            world.restore(before)
            world.play(event)
        events.append(event)
    story = tell(world, events, name="a random way")
    return story if story.scenario.expect else None


def told(chunks):
    """What the control says: notifications, the closing sentence, and the end."""
    said = [chunk for chunk in chunks if isinstance(chunk, SystemNotice | Closing | Done)]
    return [
        (
            chunk.type,
            getattr(chunk, "system_message", ""),
            getattr(chunk, "reason", ""),
            getattr(chunk, "termination_reason", ""),
            getattr(chunk, "turns", 0),
        )
        for chunk in said
    ]


def ticked(records):
    """What each tick was for, which nodes it visited, and how they ended."""
    return [(record.cause, record.causes, record.visited, record.changes, record.errors) for record in records]


@pytest.mark.parametrize(
    "seed",
    [
        *range(12),
        *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(12, 60)),
    ],
)
def test_a_random_way_has_the_same_ticks_and_words_in_the_run_loop(seed):
    stories = (a_story(100 * seed + attempt) for attempt in range(100))
    story = next(each for each in stories if each is not None)
    played = Player(TreeLibrary([FOLDER], registry=REGISTRY)).play(story.scenario)
    assert told(played.chunks) == told(story.chunks), [str(event) for event in story.events]
    assert ticked(played.records) == ticked(story.records)


@pytest.mark.parametrize(
    "seed",
    [
        *range(8),
        *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(8, 60)),
    ],
)
def test_a_random_way_with_decisions_of_people_has_the_same_ticks_in_the_run_loop(seed, tmp_path):
    (tmp_path / "sample.yaml").write_text(ASKING)
    stories = (a_story(100 * seed + attempt, tree_of(ASKING)) for attempt in range(500))
    story = next(each for each in stories if each is not None and any(isinstance(e, Decided) for e in each.events))
    played = Player(TreeLibrary([tmp_path, FOLDER], registry=REGISTRY)).play(story.scenario)
    assert told(played.chunks) == told(story.chunks), [str(event) for event in story.events]
    assert [each[2:] for each in ticked(played.records)] == [each[2:] for each in ticked(story.records)]
