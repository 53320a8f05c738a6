"""The top-level folders that the prompt names."""

import os

import pytest

from oracle.tools import top_folders


@pytest.fixture
def project(tmp_path):
    for name in ("src", "docs", ".git", ".github", "node_modules", "build.egg-info", "data", "own-env"):
        (tmp_path / name).mkdir()
    (tmp_path / "own-env" / "pyvenv.cfg").write_text("")
    (tmp_path / "README.md").write_text("# Shop")
    (tmp_path / "link").symlink_to(tmp_path / "src")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def test_the_folders_of_the_project_are_named_in_order_without_hidden_generated_and_private_ones(project):
    assert top_folders(project, private=[project / "data"]) == ("docs", "src")


def test_private_files_in_a_folder_do_not_hide_it(project):
    assert top_folders(project, private=[project / "data" / "oracle.db"]) == ("data", "docs", "src")


def test_a_project_that_cannot_be_read_has_no_folders(tmp_path):
    assert top_folders(tmp_path / "gone") == ()
