"""`oracle runs export` and `import`, on both kinds of databases."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.oracle.replay.exports.stand_in import stand_in_page
from tests.support.databases import on_both_databases


@pytest.fixture
def stuck(database):
    """The id of a recorded run."""
    return database.record("stuck twice")[0]


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Another machine: no database, and a data folder of its own."""

    def move():
        monkeypatch.delenv("ORACLE_DATABASE_URL", raising=False)
        monkeypatch.setenv("ORACLE_DATA_DIR", str(tmp_path / "elsewhere"))

    return move


@pytest.mark.long("exports every view of a run, twice")
@on_both_databases
def test_an_export_is_imported_elsewhere_as_the_same_run(oracle, stuck, elsewhere, monkeypatch, tmp_path):
    stand_in_page(monkeypatch, tmp_path)
    exported = oracle("runs", "export", stuck[:8])
    assert (exported.code, exported.err) == (0, "")
    views = {
        (format_, *more): oracle("runs", "export", stuck, "--format", format_, *more).out
        for format_ in ("svg", "dot", "mermaid", "html")
        for more in ((), ("--tick", 2), ("--without-texts",))
    }
    shown = {
        options: oracle("runs", "show", stuck, *options).out for options in ((), ("--tick", 2), ("--why",), ("--json",))
    }
    assert oracle("runs", "export", stuck, "-o", "run.json").out == "run.json: written\n"
    assert stat.S_IMODE(Path("run.json").stat().st_mode) == 0o600
    elsewhere()
    assert oracle("runs", "export", stuck).code == 1
    brought = oracle("runs", "import", "run.json")
    assert brought.out.startswith(f"{stuck}: imported; see `oracle runs show {stuck[:8]}`\n")
    assert "was already imported" in oracle("runs", "import", "run.json").out
    assert oracle("runs", "export", stuck[:8]).out == exported.out
    for options, view in shown.items():
        assert view
        assert oracle("runs", "show", stuck[:8], *options).out == view, options
    for (format_, *more), view in views.items():
        assert oracle("runs", "export", stuck, "--format", format_, *more).out == view, format_


@on_both_databases
def test_an_imported_run_is_no_run_of_the_database(oracle, stuck, tmp_path):
    oracle("runs", "export", stuck, "-o", "run.json")
    text = (tmp_path / "run.json").read_text().replace(stuck, "f" * 32)
    (tmp_path / "run.json").write_text(text)
    assert oracle("runs", "import", "run.json").code == 0
    assert oracle("runs", "export", "ffff").code == 0
    assert "ffff" not in oracle("runs", "list").out
    replayed = oracle("runs", "scenario", "ffff")
    assert (replayed.code, replayed.err) == (1, "Error: there is no run 'ffff'\n")


def test_an_existing_file_is_not_overwritten(oracle, stuck, tmp_path):
    (tmp_path / "run.svg").write_text("mine")
    ran = oracle("runs", "export", stuck, "--format", "svg", "-o", "run.svg")
    assert (ran.code, ran.err) == (1, "Error: 'run.svg' exists already; name a new file\n")
    assert (tmp_path / "run.svg").read_text() == "mine"
    ran = oracle("runs", "export", stuck, "-o", "no/such/folder.json")
    assert (ran.code, ran.err) == (1, "Error: 'no/such/folder.json' cannot be written: No such file or directory\n")


def test_what_cannot_be_exported_is_an_error(oracle, stuck):
    for arguments, message in (
        (("nothing",), "there is no run 'nothing'"),
        ((stuck, "--tick", "99", "--format", "svg"), "has no tick 99; it has the ticks 1 to 5"),
    ):
        ran = oracle("runs", "export", *arguments)
        assert (ran.code, ran.out) == (1, "")
        assert message in ran.err


def test_what_cannot_be_imported_is_an_error(oracle, stuck, tmp_path):
    for name, data, message in (
        ("nothing.json", None, "'nothing.json' cannot be read: No such file or directory"),
        ("page.html", b"<!doctype html>", "'page.html' cannot be imported: this is not JSON"),
        ("list.json", b"[1]", "'list.json' cannot be imported: this is not an exported run"),
        ("half.json", b'{"format": "oracle-run", "version": 1', "'half.json' cannot be imported: this is not JSON"),
    ):
        if data is not None:
            (tmp_path / name).write_bytes(data)
        ran = oracle("runs", "import", name)
        assert (ran.code, ran.out) == (1, "")
        assert message in ran.err
    assert not (tmp_path / "data" / "imports").exists()


@pytest.mark.long("starts a process")
def test_a_reader_that_closes_the_pipe_ends_the_command_quietly(stuck):
    command = f"{sys.executable} -m oracle runs export {stuck} --format html | head -c 10"
    ran = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, check=False)
    assert (ran.stdout, ran.stderr) == (b"<!doctype ", b"")
    assert ran.returncode in (0, 141)  # the page fits into the pipe, or not
