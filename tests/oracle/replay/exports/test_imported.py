"""The folder of imported runs."""

import json
import stat
from dataclasses import replace

import pytest

from oracle.core.errors import OperatorError
from oracle.replay.exports import imported
from oracle.replay.exports.imported import ImportedRuns, read_export
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.foreign import DamagedHistoryError
from oracle.runs.storage.errors import UnclearRunError


@pytest.fixture
def kept(tmp_path):
    return ImportedRuns(tmp_path / "imports")


def test_an_imported_run_is_found_by_the_beginning_of_its_id(stuck, kept):
    assert kept.find(stuck.run.id) is None
    first = kept.keep(history_to_json(stuck))
    assert first.what == "new"
    assert history_to_json(kept.find(stuck.run.id[:6])) == history_to_json(stuck)
    assert history_to_json(kept.find(stuck.run.id)) == history_to_json(stuck)
    assert kept.keep(history_to_json(stuck)).what == "same"


def test_another_export_of_the_same_run_is_not_overwritten(stuck, kept):
    kept.keep(history_to_json(stuck))
    other = replace(stuck, problem="other")
    with pytest.raises(OperatorError, match=r"another export of the run .* was imported; delete"):
        kept.keep(history_to_json(other))
    assert history_to_json(kept.find(stuck.run.id)) == history_to_json(stuck)


def test_an_id_that_is_not_clear_names_those_that_it_could_be(stuck, kept):
    for run_id in ("abc1", "abc2"):
        kept.keep(history_to_json(replace(stuck, run=replace(stuck.run, id=run_id))))
    with pytest.raises(UnclearRunError, match="abc1, abc2"):
        kept.find("ab")


@pytest.mark.parametrize(
    "run_id", ["../../etc/passwd", "/tmp/x", "", "a/b", ".hidden", "a" * 200, "a\0b", "con\n", "%2e"]
)
def test_an_id_cannot_name_a_file_elsewhere(stuck, kept, tmp_path, run_id):
    hostile = history_to_json(replace(stuck, run=replace(stuck.run, id=run_id)))
    with pytest.raises(DamagedHistoryError, match="damaged at run"):
        kept.keep(hostile)
    assert kept.find(run_id) is None
    assert not (tmp_path / "imports").exists()


def test_only_its_user_can_read_an_imported_run(stuck, tmp_path):
    imported_to = ImportedRuns(tmp_path / "data" / "imports").keep(history_to_json(stuck)).path
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data", imported_to.parent, imported_to)]
    assert modes == [0o700, 0o700, 0o600]
    assert list(imported_to.parent.iterdir()) == [imported_to]


def test_an_import_writes_through_no_link(stuck, kept, tmp_path):
    folder, other = tmp_path / "imports", tmp_path / "other"
    folder.mkdir()
    other.write_text("untouched")
    (folder / f"{stuck.run.id}.partial").symlink_to(other)
    (folder / f"{stuck.run.id}.json").symlink_to(tmp_path / "elsewhere")
    path = kept.keep(history_to_json(stuck)).path
    assert (path.is_symlink(), other.read_text()) == (False, "untouched")
    assert not (tmp_path / "elsewhere").exists()


DAMAGED = {
    "nothing": b"",
    "no JSON": b"hello",
    "half of one": None,
    "a list": b"[]",
    "another format": b'{"format": "har"}',
    "another version": b'{"format": "oracle-run", "version": 99}',
    "no run": b'{"format": "oracle-run", "version": 1}',
    "deep": b"[" * 100_000,
    "bytes": bytes(range(256)),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused_in_words(stuck, kept, name):
    data = DAMAGED[name] if DAMAGED[name] is not None else history_to_json(stuck)[:-5000]
    with pytest.raises(DamagedHistoryError) as error:
        kept.keep(data)
    assert len(str(error.value)) < 300
    assert list(kept.ids()) == []


@pytest.mark.parametrize(
    ("field", "value"), [("ticks", 7), ("run", None), ("texts", [{"type": "content"}]), ("keys", ["x"])]
)
def test_a_wrong_field_is_named(stuck, kept, field, value):
    data = json.loads(history_to_json(stuck)) | {field: value}
    with pytest.raises(DamagedHistoryError, match=f"damaged at {field}"):
        kept.keep(json.dumps(data).encode())


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(imported, "LARGEST_BYTES", 1024 * 1024)
    file = tmp_path / "large.json"
    file.write_bytes(b" " * (1024 * 1024 + 1))
    with pytest.raises(OperatorError, match="more than 1 MiB"):
        read_export(file)
    with pytest.raises(OperatorError, match="cannot be read: No such file"):
        read_export(tmp_path / "nothing.json")


def test_a_folder_that_cannot_be_written_is_an_error(stuck, tmp_path):
    (tmp_path / "imports").write_text("a file")
    with pytest.raises(OperatorError, match="cannot be written"):
        ImportedRuns(tmp_path / "imports").keep(history_to_json(stuck))
