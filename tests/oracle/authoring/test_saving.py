"""Files are put in place whole or not at all."""

import fcntl
import os
import stat

import pytest

from oracle.authoring.files import PreparedFile, TreeFolderError, locked


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "some.yaml"
    path.write_bytes(b"old")
    return path


def test_a_prepared_file_is_not_there_until_it_is_published(path):
    file = PreparedFile(path, b"new\r\n")
    assert path.read_bytes() == b"old"
    file.publish()
    file.publish()
    file.close()
    assert path.read_bytes() == b"new\r\n"
    assert [each.name for each in path.parent.iterdir()] == ["some.yaml"]


def test_a_file_that_is_not_published_leaves_nothing_behind(path):
    PreparedFile(path, b"new").close()
    assert [each.name for each in path.parent.iterdir()] == ["some.yaml"]
    assert path.read_bytes() == b"old"


def test_the_rights_of_the_old_file_stay(path):
    path.chmod(0o640)
    file = PreparedFile(path, b"new")
    file.publish()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_is_replaced_and_what_it_names_stays(path):
    link = path.with_name("link.yaml")
    link.symlink_to(path)
    file = PreparedFile(link, b"new")
    file.publish()
    assert (link.is_symlink(), link.read_bytes(), path.read_bytes()) == (False, b"new", b"old")


def test_a_folder_in_the_files_place_is_an_error_that_leaves_nothing_behind(path):
    taken = path.with_name("taken.yaml")
    (taken / "inside").mkdir(parents=True)
    file = PreparedFile(taken, b"new")
    with pytest.raises(TreeFolderError, match="cannot be written: Is a directory; set ORACLE_TREES_DIR"):
        file.publish()
    file.close()
    assert sorted(each.name for each in path.parent.iterdir()) == ["some.yaml", "taken.yaml"]


def test_a_folder_that_is_none_cannot_be_locked(path):
    with pytest.raises(TreeFolderError, match="cannot be written: File exists"), locked(path):
        pass


def test_a_folder_is_made_for_its_owner_alone_and_one_process_at_a_time_has_it(tmp_path):
    folder = tmp_path / "not" / "yet"
    with locked(folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        other = os.fork()
        if not other:
            handle = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]) == 7
