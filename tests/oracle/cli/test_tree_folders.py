import json
import os

import pytest

from bt_runtime import tree_schema
from oracle.domains.domain import shipped_domain
from oracle.server.settings.fields import Settings
from oracle.server.wiring.plugins import plugins_of, registry_of
from trees import FOLDER

SHIPPED = sorted(path.name for path in FOLDER.glob("*.yaml"))


SCENARIOS = sorted(f"scenarios/{path.name}" for path in (FOLDER / "scenarios").glob("*.yaml"))
COPIED = (*SHIPPED, "tree.schema.json", *SCENARIOS)


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_copy_has_every_shipped_tree_and_the_schema_that_its_editor_line_names(oracle, tmp_path):
    ran = oracle("trees", "init", "my-trees")
    assert ran.code == 0
    own = tmp_path / "my-trees"
    copied = contents(own)
    schema = json.loads(copied.pop("tree.schema.json"))
    assert copied == {name: (FOLDER / name).read_bytes() for name in COPIED if name != "tree.schema.json"}
    assert schema == tree_schema(registry_of(plugins_of(Settings()), shipped_domain()))  # with the kinds of features
    for name in SHIPPED:
        head = (own / name).read_text().splitlines()[0]
        assert head.startswith("# yaml-language-server: $schema=")
        assert (own / head.partition("$schema=")[2]).is_file()
    assert ran.out.splitlines()[:-1] == [f"my-trees/{name}: copied" for name in COPIED]
    assert oracle("trees", "check", "my-trees").code == 0


def test_a_second_copy_changes_no_file_and_reports_new_and_differing_files(oracle, tmp_path):
    oracle("trees", "init", "my-trees")
    own = tmp_path / "my-trees"
    (own / "fallback.yaml").unlink()
    edited = (own / "oracle.yaml").read_text() + "# mine\n"
    (own / "oracle.yaml").write_text(edited)
    (own / "tree.schema.json").write_text("{}")
    ran = oracle("trees", "init", "my-trees")
    assert ran.code == 0
    assert "my-trees/fallback.yaml: copied\n" in ran.out
    assert "my-trees/oracle.yaml: kept; it differs from the shipped file\n" in ran.out
    assert "my-trees/tree.schema.json: kept; it differs from the shipped file\n" in ran.out
    assert "my-trees/use_tools.yaml: unchanged\n" in ran.out
    assert f"Changed files were kept; the shipped ones are in {FOLDER}\n" in ran.out
    assert (own / "oracle.yaml").read_text() == edited
    assert (own / "tree.schema.json").read_text() == "{}"


def test_a_copy_is_made_although_the_setting_names_a_missing_folder(oracle, tmp_path, monkeypatch):
    monkeypatch.setenv("ORACLE_TREES_DIR", "not/yet")
    assert oracle("trees", "list").code == 1
    assert oracle("trees", "init", "not/yet").code == 0
    assert oracle("trees", "list").code == 0


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(oracle, tmp_path):
    (tmp_path / "my-trees").mkdir()
    os.mkfifo(tmp_path / "my-trees" / "oracle.yaml")
    ran = oracle("trees", "init", "my-trees")
    assert ran.code == 0
    assert "my-trees/oracle.yaml: kept; it differs from the shipped file" in ran.out


def test_symbolic_links_are_not_followed_when_writing(oracle, tmp_path):
    own = tmp_path / "my-trees"
    own.mkdir()
    (own / "oracle.yaml").symlink_to(tmp_path / "elsewhere")
    assert oracle("trees", "init", "my-trees").code == 0
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("", "DIR is empty; name a folder, or `.` for the working folder"),
        ("file", "'file' is a file; name a folder, which may be a new one"),
        ("file/below", "the folder 'file/below' cannot be made: Not a directory"),
        (300 * "a", f"the folder '{300 * 'a'}' cannot be made: File name too long"),
    ],
)
def test_an_unwritable_folder_is_reported_in_one_message(oracle, tmp_path, folder, message):
    (tmp_path / "file").touch()
    ran = oracle("trees", "init", folder)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"Error: {message}\n"


@pytest.mark.skipif(not os.path.isdir("/sys"), reason="there is no folder here that root cannot write to")  # noqa: PTH112
def test_an_unwritable_file_is_reported_in_one_message(oracle):
    ran = oracle("trees", "init", "/sys")
    assert ran.code == 1
    assert ran.err.startswith("Error: '/sys/continue_answer.yaml' cannot be written: ")


def test_the_list_has_the_file_behind_each_name_and_the_file_that_it_replaces(oracle, tmp_path, monkeypatch):
    monkeypatch.setenv("ORACLE_TREES_DIR", "my-trees")
    own = tmp_path / "my-trees"
    own.mkdir()
    (own / "oracle.yaml").write_text((FOLDER / "oracle.yaml").read_text())
    (own / "mine.yaml").write_text("tree: mine\nroot: finish\n")
    (own / "wrong.yaml").write_text("tree: wrong\nroot: finsh\n")
    (own / "late.yml").write_text("tree: late\nroot: finish\n")
    (own / "oracle.test.yaml").write_text("scenarios: []\n")
    ran = oracle("trees", "list")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert f"oracle           my-trees/oracle.yaml (yours, in place of {FOLDER / 'oracle.yaml'})" in lines
    assert "mine             my-trees/mine.yaml (yours)" in lines
    assert f"fallback         {FOLDER / 'fallback.yaml'} (shipped, a part of other trees)" in lines
    assert (
        "wrong            my-trees/wrong.yaml (yours; 1 mistake, see `oracle trees check my-trees/wrong.yaml`)" in lines
    )
    assert len(lines) == len(SHIPPED) + 2
    assert ran.err == "Note: my-trees/late.yml provides no tree; a tree file must be called NAME.yaml\n"


def test_the_list_of_the_shipped_folder_names_each_tree_once(oracle, monkeypatch):
    monkeypatch.setenv("ORACLE_TREES_DIR", os.fspath(FOLDER))
    ran = oracle("trees", "list")
    assert ran.out.count("(shipped") == len(ran.out.splitlines()) == len(SHIPPED)


def test_a_file_instead_of_a_folder_of_trees_is_reported_in_one_message(oracle, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ORACLE_TREES_DIR", "file")
    ran = oracle("trees", "list")
    assert ran.code == 1
    assert ran.err.startswith(
        "Error: the folder of trees 'file' is a file; set ORACLE_TREES_DIR (or serve --trees) to "
    )
