"""Files and folders that cannot be read as they are give mistakes; nothing waits, and nothing crashes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bt_runtime import TreeLibrary
from bt_runtime.analysis.files import check_files
from oracle.agent.nodes import REGISTRY
from oracle.features.scenarios.suites import Suite

NOBODY = 65534


@pytest.fixture
def library(tmp_path: Path) -> TreeLibrary:
    return TreeLibrary([tmp_path], registry=REGISTRY)


@contextmanager
def without_rights(folder: Path) -> Iterator[None]:
    """While a folder may not be entered, for root too."""
    folder.chmod(0)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o700)


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_circle(path: Path) -> None:
    path.symlink_to(path)


def make_dangling(path: Path) -> None:
    path.symlink_to(path.with_name("gone.yaml"))


ODD = {
    "folder": (Path.mkdir, "there is no tree file in this folder"),
    "pipe": (make_pipe, "this is not a file"),
    "circle of links": (make_circle, "Too many levels of symbolic links"),
    "link to nothing": (make_dangling, "No such file or directory"),
    "nothing": (lambda _: None, "No such file or directory"),
}


@pytest.mark.parametrize(("make", "said"), ODD.values(), ids=ODD)
def test_what_is_no_file_is_a_mistake(library, tmp_path, make, said) -> None:
    path = tmp_path / "odd.yaml"
    make(path)
    (mistake,) = check_files(library, [path]).mistakes
    assert (mistake.place.file, said in mistake.message) == (str(path), True)


@pytest.mark.parametrize("make", [Path.mkdir, make_pipe, make_circle, make_dangling])
def test_what_is_no_file_does_not_disturb_the_other_trees_of_a_folder(library, tmp_path, make) -> None:
    make(tmp_path / "odd.yaml")
    (tmp_path / "good.yaml").write_text("tree: good\nroot: finish\n")
    report = check_files(library, [tmp_path])
    assert [Path(file.file).name for file in report.files] == ["good.yaml"]
    assert report.ok
    assert library.load("good").name == "good"


def test_a_folder_without_permission_is_a_mistake_and_serves_no_tree(tmp_path) -> None:
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "good.yaml").write_text("tree: good\nroot: finish\n")
    library = TreeLibrary([folder], registry=REGISTRY)
    with without_rights(folder):
        reports = [check_files(library, [folder]), check_files(library, [folder / "good.yaml"])]
        assert library.names() == ()
    assert ["Permission denied" in str(report) for report in reports] == [True, True]
    assert library.names() == ("good",)


@pytest.mark.parametrize("make", [Path.mkdir, make_pipe, make_circle, make_dangling])
def test_scenarios_that_are_no_file_are_a_mistake(library, tmp_path, make) -> None:
    path = tmp_path / "odd.yaml"
    make(path)
    result = Suite(library).run(path)
    assert (result.passed, result.mistakes.startswith(f"{path}:1:1: ")) == (False, True)
