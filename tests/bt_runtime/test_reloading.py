"""Trees that follow their files."""

import os

import pytest
import structlog

from bt_runtime import ReloadingTrees, TreeFileError, TreeLibrary, TreeNotFoundError
from bt_runtime.testing import registry_of

OUTER = "tree: outer\nroot: {sequence: [{subtree: inner}]}\n"
INNER = "tree: inner\nroot: {scripted: [SUCCESS]}\n"
CHANGED = "tree: inner\nroot: {scripted: [FAILURE]}\n"
WRONG = "tree: inner\nroot: {scriptd: [FAILURE]}\n"


class Folder:
    """A folder of tree files whose time stamps always move on."""

    def __init__(self, path):
        self.path = path
        self._stamp = 1_000_000_000

    def write(self, name, text):
        file = self.path / f"{name}.yaml"
        file.write_text(text, encoding="utf-8")
        self._stamp += 1
        os.utime(file, (self._stamp, self._stamp))


@pytest.fixture
def folder(tmp_path):
    folder = Folder(tmp_path)
    folder.write("outer", OUTER)
    folder.write("inner", INNER)
    return folder


@pytest.fixture
def trees(folder):
    return ReloadingTrees(TreeLibrary([folder.path], registry=registry_of()))


def test_an_unchanged_tree_is_the_same_object(trees):
    assert trees.load("outer") is trees.load("outer")
    assert trees.names() == ("inner", "outer")


def test_a_changed_subtree_gives_a_new_version(folder, trees):
    before = trees.load("outer")
    folder.write("inner", CHANGED)
    after = trees.load("outer")
    assert after.sha != before.sha
    assert [node.settings.statuses for node in after.nodes() if node.kind == "scripted"] == [["FAILURE"]]


def test_an_invalid_change_keeps_the_valid_tree_and_is_logged_once(folder, trees):
    before = trees.load("outer")
    folder.write("inner", WRONG)
    with structlog.testing.capture_logs() as logs:
        assert trees.load("outer") is before
        assert trees.load("outer") is before
    (event,) = logs
    assert (event["event"], event["tree"], event["serving"]) == ("tree.rejected", "outer", before.sha)
    assert "inner.yaml:2:8" in event["mistakes"]
    assert "did you mean 'scripted'?" in event["mistakes"]


def test_a_corrected_file_is_loaded_again(folder, trees):
    before = trees.load("outer")
    folder.write("inner", WRONG)
    trees.load("outer")
    folder.write("inner", CHANGED)
    assert trees.load("outer").sha != before.sha


def test_a_deleted_file_keeps_the_tree(folder, trees):
    before = trees.load("outer")
    (folder.path / "inner.yaml").unlink()
    assert trees.load("outer") is before


def test_a_file_in_a_folder_that_is_searched_earlier_replaces_the_tree(folder, tmp_path):
    own = Folder(tmp_path / "own")
    own.path.mkdir()
    trees = ReloadingTrees(TreeLibrary([own.path, folder.path], registry=registry_of()))
    before = trees.load("outer")
    own.write("inner", CHANGED)
    assert trees.load("outer").sha != before.sha


def test_a_tree_without_a_valid_version_is_an_error_each_time(folder, trees):
    folder.write("inner", WRONG)
    for _ in range(2):
        with pytest.raises(TreeFileError):
            trees.load("outer")


def test_an_unknown_tree_is_reported_with_the_nearest_name(trees):
    with pytest.raises(TreeNotFoundError, match="'outer'"):
        trees.load("outr")
