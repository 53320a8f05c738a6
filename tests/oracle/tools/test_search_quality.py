"""The code search over this very repository, by labelled questions; the floors leave room for changes of the code."""

from fnmatch import fnmatchcase

import pytest

from benchmarks.eval_search import REPOSITORY, copy_without_questions, load_questions, search
from oracle.tools.code_files import list_project


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    project = tmp_path_factory.mktemp("repository")
    copy_without_questions(project)
    return search(load_questions("heldout"), project=project)


def test_a_right_file_is_among_the_first_three_for_most_questions(found):
    assert sum(outcome.is_hit(3) for outcome in found) >= 0.8 * len(found)


def test_a_right_file_is_first_for_two_questions_in_three(found):
    assert sum(outcome.is_hit(1) for outcome in found) >= 0.66 * len(found)


def test_every_question_has_an_acceptable_file_that_exists():
    paths = [file.path for file in list_project(REPOSITORY).files]
    for name in ("dev", "heldout"):
        for row in load_questions(name):
            assert any(fnmatchcase(path, pattern) for path in paths for pattern in row["acceptable"]), row["question"]
