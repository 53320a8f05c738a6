"""Two texts of a tree are compared by nodes, or by lines where they are no trees."""

import time

import pytest

from bt_runtime import TreeLibrary
from bt_runtime.testing import registry_of
from oracle.authoring.editor import compared

TREE = "tree: some\nroot: {sequence: [{scripted: [SUCCESS]}, {scripted: [FAILURE]}]}\n"


@pytest.fixture
def library():
    return TreeLibrary((), registry=registry_of())


def test_texts_of_trees_are_compared_by_their_nodes(library):
    assert compared(TREE, TREE.replace("FAILURE", "RUNNING"), name="some", library=library) == (
        "~ sequence/scripted#2: statuses ['FAILURE'] -> ['RUNNING']"
    )
    assert compared(TREE, f"# new\n{TREE}", name="some", library=library) == "no difference but in layout or comments"


def test_a_text_with_mistakes_is_compared_by_lines(library):
    told = compared("a: 1\nb: 2\nc: 3\n", "a: 1\nb: \x1b[31m\nc: 3\n", name="some", library=library)
    assert told.splitlines() == ["--- before", "+++ now", "@@ -1,3 +1,3 @@", " a: 1", "-b: 2", "+b: \\x1b[31m", " c: 3"]


def test_a_hostile_text_is_not_compared_line_by_line(library):
    began = time.perf_counter()
    told = compared("a\n" * 200_000, "b\na\n" * 100_000, name="some", library=library)
    assert told == "200,000 lines have become 200,000"
    assert time.perf_counter() - began < 5
