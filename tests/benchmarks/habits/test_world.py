"""The stand-in world has what its tasks ask for, under the real tools."""

import pytest

from benchmarks.habits.tasks import TASKS
from benchmarks.habits.world import World
from benchmarks.habits.world_code import CODE
from benchmarks.habits.world_notes import NOTES, PAGES

SOURCES = {
    **{f"code:{path}": text for path, text in CODE.items()},
    **{f"{'thread' if path.startswith('threads/') else 'vault'}:{path}": text for path, text in NOTES.items()},
    **{f"web:{url}": f"{title}\n{text}" for url, (title, text) in PAGES.items()},
}
FACTS = {fact.key: fact for task in TASKS for question in task.questions for fact in question.facts}
STATED = [fact for fact in FACTS.values() if fact.exists and fact.places and fact.write is None]


@pytest.mark.parametrize("fact", [pytest.param(fact, id=fact.key) for fact in STATED])
def test_a_fact_stands_in_its_places_and_nowhere_else(fact) -> None:
    assert {place for place, text in SOURCES.items() if fact.token in text} == set(fact.places)


@pytest.mark.parametrize("fact", [pytest.param(fact, id=fact.key) for fact in FACTS.values() if not fact.exists])
def test_what_is_to_be_looked_for_in_vain_is_nowhere(fact) -> None:
    assert not any(word.casefold() in text.casefold() for word in fact.words for text in SOURCES.values())


@pytest.mark.parametrize("task", [pytest.param(task, id=task.name) for task in TASKS])
def test_no_question_gives_its_answer_away(task) -> None:
    for question in task.questions:
        assert not any(fact.token in question.text for fact in question.facts)


def test_names_of_tasks_are_unique_and_two_fifths_are_not_in_english() -> None:
    assert len({task.name for task in TASKS}) == len(TASKS)
    foreign = sum(task.language != "en" for task in TASKS)
    assert 0.3 < foreign / len(TASKS) < 0.5


async def test_calls_are_recorded_with_their_turn_and_what_they_wrote_is_taken_back(tmp_path) -> None:
    world = World(tmp_path, turn=lambda: 3)
    tools = world.tools()
    await tools.call("read_file", {"path": "src/ferry/retries.py"})
    await tools.call("read_file", {"path": "src/nowhere.py"})
    await tools.call("vault_write", {"path": "people.md", "body": "Nobody.", "overwrite": True})
    assert [(call.turn, call.tool, call.is_error) for call in world.ran] == [
        (3, "read_file", False),
        (3, "read_file", True),
        (3, "vault_write", False),
    ]
    world.reset()
    assert world.ran == ()
    assert (tmp_path / "vault" / "people.md").read_text(encoding="utf-8") == NOTES["people.md"]


async def test_the_web_is_searched_by_words(tmp_path) -> None:
    tools = World(tmp_path).tools()
    found = await tools.call("web_search", {"query": "IOSS consignments euros"})
    assert found.text.startswith("https://customs.example/ioss")
    assert found.sources[0].source_type == "web"
    assert (await tools.call("web_search", {"query": "zeppelin timetable"})).is_empty
