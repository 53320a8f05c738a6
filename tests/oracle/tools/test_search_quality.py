"""The code search over this very repository, by labelled questions; the floors leave room for changes of the code."""

from fnmatch import fnmatchcase

import pytest

from benchmarks.eval_search import OTHER_PROJECT, REPOSITORY, copy_without_questions, load_questions, search
from oracle.tools import project_tools
from oracle.tools.code_files import list_project


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    copy_without_questions(folder)
    return folder


@pytest.fixture(scope="module")
def found(project):
    return search(load_questions("heldout"), project=project)


@pytest.mark.long("indexes and ranks whole projects")
def test_a_right_file_is_among_the_first_three_for_most_questions(found):
    assert sum(outcome.is_hit(3) for outcome in found) >= 0.8 * len(found)


@pytest.mark.long("indexes and ranks whole projects")
def test_a_right_file_is_first_for_two_questions_in_three(found):
    assert sum(outcome.is_hit(1) for outcome in found) >= 0.66 * len(found)


@pytest.mark.long("indexes and ranks whole projects")
@pytest.mark.parametrize("name", ["dev", "heldout"])
def test_questions_about_usage_find_documents_first(project, name):
    found = search(load_questions(name, file="usage"), project=project)
    assert sum(outcome.is_hit(1) for outcome in found) >= 0.75 * len(found)
    assert sum(outcome.is_hit(3) for outcome in found) >= 0.9 * len(found)


@pytest.mark.long("indexes and ranks whole projects")
@pytest.mark.parametrize("name", ["dev", "heldout"])
def test_the_same_holds_in_another_project(name):
    found = search(load_questions(name, file="usage", project="parcel"), project=OTHER_PROJECT)
    assert sum(outcome.is_hit(1) for outcome in found) >= 0.85 * len(found)
    assert all(outcome.is_hit(3) for outcome in found)


@pytest.mark.long("indexes and ranks whole projects")
async def test_an_overview_shows_the_first_paragraph_of_the_readme_past_pictures_and_badges():
    search_code = project_tools(OTHER_PROJECT)[0]
    result = await search_code.call({"query": "What does this project do?"})
    assert result.text.startswith("README.md:10 ")
    assert "Parcel computes shipping rates." in result.text.split("\n\n")[0]


@pytest.mark.long("indexes and ranks whole projects")
def test_every_question_has_an_acceptable_file_that_exists():
    here = [file.path for file in list_project(REPOSITORY).files]
    there = [file.path for file in list_project(OTHER_PROJECT).files]
    for name in ("dev", "heldout"):
        rows = [(row, here) for row in load_questions(name) + load_questions(name, file="usage")]
        rows += [(row, there) for row in load_questions(name, file="usage", project="parcel")]
        for row, paths in rows:
            assert any(fnmatchcase(path, pattern) for path in paths for pattern in row["acceptable"]), row["question"]
