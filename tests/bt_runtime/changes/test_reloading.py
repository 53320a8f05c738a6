"""Trees that follow their files."""

import os

import pytest
import structlog

from bt_runtime import ReloadingTrees, TreeFileError, TreeLibrary, TreeNotFoundError
from bt_runtime.changes import reloading
from bt_runtime.language.reading.loading import TreeSource
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


@pytest.fixture(autouse=True)
def all_levels():
    """Earlier tests may have left a configuration of the log that drops lines."""
    structlog.reset_defaults()


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


def test_a_swap_logs_what_differs(folder, trees):
    before = trees.load("outer")
    folder.write("inner", "tree: inner\nroot: {sequence: [{scripted: [SUCCESS]}, {scripted: [FAILURE]}]}\n")
    with structlog.testing.capture_logs() as logs:
        after = trees.load("outer")
    (event,) = logs
    assert (event["event"], event["tree"], event["sha"]) == ("tree.reloaded", "outer", after.sha)
    assert after.sha != before.sha
    assert event["difference"].splitlines() == [
        "+ sequence/subtree/sequence: 2 nodes",
        "> sequence/subtree/sequence/scripted: from sequence/subtree/scripted",
    ]


def test_a_tree_with_mistakes_keeps_no_other_from_being_swapped(folder, trees):
    folder.write("other", OUTER.replace("outer", "other").replace("{subtree: inner}", "{scripted: [SUCCESS]}"))
    trees.refresh(is_first=True)
    before = {name: trees.load(name).sha for name in ("inner", "outer", "other")}
    folder.write("inner", WRONG)
    folder.write("other", "tree: other\nroot: {scripted: [FAILURE]}\n")
    after = {name: trees.load(name).sha for name in before}
    assert [name for name in before if before[name] != after[name]] == ["other"]
    assert [(state.name, bool(state.mistakes)) for state in trees.states()] == [
        ("inner", True),
        ("other", False),
        ("outer", True),
    ]


def test_files_that_change_together_are_swapped_together(folder, trees):
    trees.refresh(is_first=True)
    folder.write("outer", OUTER.replace("subtree: inner", "subtree: {tree: inner, with: {of: SUCCESS}}"))
    folder.write("inner", "tree: inner\nparameters: {of: str}\nroot: {condition: of == 'x'}\n")
    assert set(trees.refresh()) == {"inner", "outer"}
    assert "condition" in [node.kind for node in trees.load("outer").nodes()]
    with pytest.raises(TreeFileError, match="needs the argument 'of'"):
        trees.load("inner")


def test_only_trees_whose_files_have_changed_are_read_again(folder, trees):
    folder.write("other", "tree: other\nroot: {scripted: [SUCCESS]}\n")
    trees.refresh(is_first=True)
    before = {state.name: state for state in trees.states()}
    folder.write("inner", CHANGED)
    trees.refresh()
    after = {state.name: state for state in trees.states()}
    assert [name for name in before if before[name] is after[name]] == ["other"]


def test_a_tree_is_added_where_its_file_is_new_and_not_where_it_is_only_read_later(folder, trees):
    trees.load("outer")
    with structlog.testing.capture_logs() as logs:
        trees.refresh(is_first=True)
        folder.write("third", OUTER.replace("outer", "third"))
        trees.refresh(is_first=True)
    assert [(event["event"], event["tree"]) for event in logs] == [("tree.added", "third")]


def test_trees_that_are_watched_do_not_look_at_their_files(folder, trees):
    trees.refresh(is_first=True)
    before = trees.load("outer")
    trees.is_watched = True
    folder.write("inner", CHANGED)
    assert trees.load("outer") is before
    trees.refresh()
    assert trees.load("outer").sha != before.sha


def test_a_removed_tree_is_gone_and_one_that_it_replaced_is_back(folder, tmp_path):
    own = Folder(tmp_path / "own")
    own.path.mkdir()
    own.write("inner", CHANGED)
    own.write("alone", CHANGED.replace("inner", "alone"))
    trees = ReloadingTrees(TreeLibrary([own.path, folder.path], registry=registry_of()))
    trees.refresh(is_first=True)
    for name in ("inner", "alone"):
        (own.path / f"{name}.yaml").unlink()
    with structlog.testing.capture_logs() as logs:
        assert [node.settings.statuses for node in trees.load("inner").nodes()] == [["SUCCESS"]]
        with pytest.raises(TreeNotFoundError):
            trees.load("alone")
    assert ("tree.removed", "alone") in [(each["event"], each["tree"]) for each in logs]


@pytest.mark.parametrize("how", ["vanishes", "becomes a file"])
def test_a_folder_that_cannot_be_read_changes_nothing_and_is_logged_once(folder, trees, tmp_path, how):
    before = trees.load("outer")
    aside = tmp_path.with_name("aside")
    tmp_path.rename(aside)
    if how == "becomes a file":
        tmp_path.write_text("no folder", encoding="utf-8")
    with structlog.testing.capture_logs() as logs:
        assert trees.load("outer") is before
        assert trees.load("outer") is before
        assert trees.names() == ("inner", "outer")
    (event,) = logs
    assert event["event"] == "trees.unreadable"
    assert str(tmp_path) in event["problem"]
    tmp_path.unlink(missing_ok=True)
    aside.rename(tmp_path)
    assert trees.load("outer") is before
    assert trees.problem is None


def test_a_link_out_of_a_closed_folder_is_not_read_and_the_tree_kept(folder, tmp_path):
    trees = ReloadingTrees(TreeLibrary([folder.path], registry=registry_of()), closed=[folder.path])
    before = trees.load("outer")
    outside = tmp_path.with_name("outside.yaml")
    outside.write_text(CHANGED, encoding="utf-8")
    (folder.path / "inner.yaml").unlink()
    (folder.path / "inner.yaml").symlink_to(outside)
    assert trees.load("outer") is before
    (mistake,) = trees.state("outer").mistakes
    assert mistake.message == "the file is a link that leads out of its folder, and is not read"
    (folder.path / "inner.yaml").unlink()
    (folder.path / ".data.txt").write_text(CHANGED, encoding="utf-8")
    (folder.path / "inner.yaml").symlink_to(".data.txt")
    assert trees.load("outer").sha != before.sha


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"tree: inner\xff", "UTF-8"), (b"", ""), (b"a: &a [*a]\n", ""), (b"x" * 1_000_001, "larger than")],
    ids=["no UTF-8", "nothing", "itself", "too large"],
)
def test_a_file_that_is_no_tree_keeps_the_old_one(folder, trees, data, message):
    before = trees.load("outer")
    (folder.path / "inner.yaml").write_bytes(data)
    assert trees.load("outer") is before
    assert message in trees.state("outer").mistakes[0].message


def test_a_link_to_nothing_is_a_mistake_of_its_tree(folder, trees):
    before = trees.load("outer")
    (folder.path / "inner.yaml").unlink()
    (folder.path / "inner.yaml").symlink_to("nowhere.yaml")
    assert trees.load("outer") is before
    assert "cannot be read: No such file or directory" in trees.state("inner").mistakes[0].message


def test_a_folder_with_too_many_files_is_not_read(folder, trees, monkeypatch):
    before = trees.load("outer")
    monkeypatch.setattr(reloading, "MOST_FILES", 2)
    folder.write("third", CHANGED.replace("inner", "third"))
    assert trees.load("outer") is before
    assert "more than 2 tree files" in trees.problem


def test_what_another_text_would_bring_is_known_before_it_is_there(folder, trees):
    trees.refresh(is_first=True)
    source = TreeSource(str(folder.path / "inner.yaml"), WRONG, "inner")
    states = {state.name: state for state in trees.with_source("inner", source)}
    assert states.keys() == {"inner", "outer"}
    assert all(state.mistakes for state in states.values())
    assert not any(state.mistakes for state in trees.states())
