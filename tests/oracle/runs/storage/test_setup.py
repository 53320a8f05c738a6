"""Opening a store: what is wrong is said, with what to do."""

import os
import socket
import sqlite3
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from oracle.runs.storage.errors import StoreSetupError
from oracle.runs.storage.store import open_store


async def refusal(url: str) -> str:
    with pytest.raises(StoreSetupError) as caught:
        async with open_store(url, worker="worker-1"):
            pass
    assert "s3cret" not in str(caught.value)
    return str(caught.value)


async def test_the_folder_is_made_and_is_its_users_alone(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path}/a/b/oracle.db", worker="worker-1") as store:
        await store.ping()
    assert (tmp_path / "a" / "b" / "oracle.db").is_file()
    assert (tmp_path / "a" / "b").stat().st_mode & 0o077 == 0


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


async def test_the_files_are_their_users_alone_in_a_folder_that_others_may_look_into(
    tmp_path: Path, own_umask: None
) -> None:
    async with open_store(f"sqlite:///{tmp_path}/oracle.db", worker="worker-1") as store:
        await store.ping()
        assert modes(tmp_path) == dict.fromkeys(
            ["oracle.db", "oracle.db-wal", "oracle.db-shm", "oracle.db.lock"], 0o600
        )


async def test_files_that_others_could_read_are_closed_to_them_at_the_next_start(
    tmp_path: Path, own_umask: None
) -> None:
    url = f"sqlite:///{tmp_path}/oracle.db"
    async with open_store(url, worker="worker-1"):
        pass
    reader = sqlite3.connect(tmp_path / "oracle.db")  # so that the files beside it are there, as after a crash
    reader.execute("SELECT count(*) FROM alembic_version").fetchone()
    assert {"oracle.db-wal", "oracle.db-shm"} <= modes(tmp_path).keys()
    for name in modes(tmp_path):
        (tmp_path / name).chmod(0o644)
    (tmp_path / "linked.db").symlink_to("oracle.db")
    async with open_store(f"sqlite:///{tmp_path}/linked.db", worker="worker-1"):
        assert set(modes(tmp_path).values()) == {0o600}
    reader.close()


@pytest.fixture
def own_umask() -> Iterator[None]:
    """The umask that most systems have."""
    before = os.umask(0o022)
    yield
    os.umask(before)


async def test_a_second_server_on_the_same_file_is_refused(empty_sqlite_url: str) -> None:
    async with open_store(empty_sqlite_url, worker="first"):
        message = await refusal(empty_sqlite_url)
    assert "oracle.db' is in use by another 'oracle serve'" in message
    assert "stop that one" in message
    assert "--data-dir" in message
    assert "ORACLE_DATABASE_URL" in message
    async with open_store(empty_sqlite_url, worker="second") as store:
        await store.ping()


async def test_a_second_server_is_refused_also_where_it_comes_to_the_file_by_a_link(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path}/oracle.db", worker="first"):
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "linked.db").symlink_to(tmp_path / "oracle.db")
        assert "is in use by another 'oracle serve'" in await refusal(f"sqlite:///{tmp_path}/elsewhere/linked.db")


async def test_a_refused_opening_gives_the_lock_back(empty_sqlite_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "oracle.db").write_bytes(b"no database" * 1000)
    for _ in range(2):
        assert "file is not a database" in await refusal(empty_sqlite_url)
    (folder / "oracle.db").unlink()
    async with open_store(empty_sqlite_url, worker="worker-1") as store:
        await store.ping()


async def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    message = await refusal(f"sqlite:///{tmp_path}/file/oracle.db")
    assert "file' cannot be used as a folder" in message
    assert "--data-dir" in message


async def test_a_database_that_is_a_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "oracle.db").mkdir()
    assert "oracle.db' cannot be opened" in await refusal(f"sqlite:///{tmp_path}/oracle.db")


async def test_a_database_of_a_newer_version_is_left_alone(empty_store_url: str) -> None:
    async with open_store(empty_store_url, worker="worker-1") as store:
        await store.write(lambda at: at.execute(text("UPDATE alembic_version SET version_num = '9999'")).close())
    message = await refusal(empty_store_url)
    assert "newer version of Oracle" in message
    assert "'9999'" in message


async def test_a_database_from_before_the_oldest_migration_is_left_alone(empty_store_url: str) -> None:
    async with open_store(empty_store_url, worker="worker-1") as store:
        await store.write(lambda at: at.execute(text("UPDATE alembic_version SET version_num = '0019'")).close())
    message = await refusal(empty_store_url)
    assert "early version of Oracle" in message
    assert "'0019'" in message
    assert "start with another database: `oracle serve --data-dir FOLDER`" in message


async def test_the_database_of_another_program_is_left_alone(empty_sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "oracle.db"
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE run (id TEXT)")
    other.close()
    assert "already exists" in await refusal(empty_sqlite_url)
    with sqlite3.connect(file) as other:
        assert [row[0] for row in other.execute("SELECT name FROM sqlite_master")] == ["run"]
    other.close()


@pytest.mark.parametrize(
    "url",
    ["", "nonsense", "mysql://root:s3cret@host/name", "sqlite://", "sqlite:///:memory:", "postgresql://u:s3cret@h:x/n"],
)
async def test_an_invalid_address_is_reported(url: str) -> None:
    assert "ORACLE_DATABASE_URL must be postgresql://" in await refusal(url)


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg", "postgres"])
async def test_a_server_that_does_not_answer_is_reported(scheme: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    message = await refusal(f"{scheme}://ann:s3cret@127.0.0.1:{port}/oracle?password=s3cret")
    assert "cannot be reached" in message
    assert str(port) in message


async def test_without_the_driver_of_postgresql_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "oracle.runs.storage.postgresql", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    message = await refusal("postgresql://ann:s3cret@127.0.0.1/oracle")
    assert "PostgreSQL needs the extra: pip install 'oracle-bt[postgres]'" in message


async def test_a_server_that_refuses_the_connection_is_reported(postgresql_server: str) -> None:
    url = make_url(postgresql_server).set(username="nobody_of_that_name", password="s3cret")
    message = await refusal(url.render_as_string(hide_password=False))
    assert "was refused by its server" in message
    assert "check user and password" in message


async def test_a_database_that_the_server_does_not_have_is_reported(postgresql_server: str) -> None:
    url = make_url(postgresql_server).set(database="no_database_of_that_name", password="s3cret")
    message = await refusal(url.render_as_string(hide_password=False))
    assert "no_database_of_that_name" in message
    assert "create it" in message


async def test_every_address_of_postgresql_is_taken(empty_postgresql_url: str) -> None:
    for scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        async with open_store(empty_postgresql_url.replace("postgresql", scheme, 1), worker=scheme) as store:
            assert store.is_shared
            await store.ping()


async def test_sqlite_is_of_one_process(empty_sqlite_url: str) -> None:
    async with open_store(empty_sqlite_url, worker="worker-1") as store:
        assert not store.is_shared
        assert store.worker == "worker-1"
        settings = await store.database.read(
            lambda at: [at.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "query_only")]
        )
        assert settings == ["wal", 1]
        safe = await store.write(
            lambda at: [at.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("synchronous", "secure_delete")]
        )
        assert safe == [1, 1]
