"""docs/operating.md: the settings are in one table, and the commands work."""

import asyncio
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from oracle.runs.storage.database import Database, read_url
from oracle.runs.storage.errors import StoreSetupError
from oracle.runs.storage.setup import prepare
from oracle.server.api.auth import Authenticator
from oracle.server.settings.table import settings_table
from tests.support import stores

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


def test_all_settings_are_in_one_table():
    names = [row.name for row in settings_table()]
    assert re.findall(r"^\| `([A-Z_]+)` \|", PAGE.partition("\n## Settings\n")[2], re.MULTILINE) == names


def test_the_backup_is_complete_during_writes(tmp_path):
    (line,) = [line for block in SHELL for line in block.splitlines() if "VACUUM INTO" in line]
    (tmp_path / ".oracle").mkdir()
    writing = sqlite3.connect(tmp_path / ".oracle" / "oracle.db")
    writing.execute("PRAGMA journal_mode=WAL")
    writing.execute("CREATE TABLE run (id TEXT)")
    writing.execute("INSERT INTO run VALUES ('r1')")
    writing.commit()
    writing.execute("INSERT INTO run VALUES ('r2')")
    script = shlex.split(line)[1:]
    subprocess.run([sys.executable, *script], cwd=tmp_path, check=True)
    writing.close()
    backup = sqlite3.connect(tmp_path / "oracle-backup.db")
    assert backup.execute("SELECT id FROM run").fetchall() == [("r1",)]
    backup.close()


@pytest.mark.long("starts a PostgreSQL")
@pytest.mark.skipif(not shutil.which("pg_restore"), reason="PostgreSQL's programs are not installed")
def test_the_commands_of_postgresql_save_and_restore_the_tables(tmp_path):
    lines = [line for block in SHELL for line in block.splitlines()]
    (dump,) = [line for line in lines if line.startswith("pg_dump")]
    (restore,) = [line for line in lines if line.startswith("pg_restore")]
    try:
        with stores.server() as server, stores.postgresql(server) as saved, stores.postgresql(server) as empty:
            stores.make_tables(saved)
            for line, url in ((dump, saved), (restore, empty)):
                environment = {**os.environ, "ORACLE_DATABASE_URL": url}
                subprocess.run(["sh", "-c", line], env=environment, cwd=tmp_path, check=True)
            with psycopg.connect(empty) as connection:
                assert connection.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)
    except stores.NoServerError as error:
        pytest.skip(f"PostgreSQL could not be tested: {error}")


def test_a_token_signed_as_documented_is_accepted():
    (line,) = [line for block in SHELL for line in block.splitlines() if "jwt.encode" in line]
    secret = "0123456789abcdef" * 2
    script = shlex.split(line)[1:]
    environment = {**os.environ, "ORACLE_JWT_SECRET": secret}
    signed = subprocess.run([sys.executable, *script], env=environment, capture_output=True, check=True)
    authenticator = Authenticator(tokens={}, jwt_secret=secret, operators=())
    caller = asyncio.run(authenticator.caller([(b"authorization", b"Bearer " + signed.stdout.strip())]))
    assert caller.user_id == "anna"


def test_an_older_version_refuses_the_database_and_the_backup_restores_it(tmp_path):
    file = tmp_path / "oracle.db"
    open_database(file)
    restored = file.read_bytes()
    with sqlite3.connect(file) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    refusal = re.search(r"\*(was written by a newer\s+version)\*", PAGE)
    assert refusal is not None
    with pytest.raises(StoreSetupError, match=" ".join(refusal[1].split())):
        open_database(file)
    file.write_bytes(restored)
    open_database(file)


def open_database(file: Path) -> None:
    database = Database(read_url(f"sqlite:///{file}"))
    try:
        prepare(database)()
    finally:
        database.close()


MESSAGES = re.findall(r"^\| `([a-z][^`]*? [^`]*)` \|", PAGE.partition("\n## Troubleshooting\n")[2], re.MULTILINE)
EVENTS = re.findall(r"`([a-z_]+\.[a-z_]+)`", PAGE.partition("\n## Troubleshooting\n")[2].partition("\n## ")[0])
SOURCES = re.sub(
    r'"\s*\n\s*f?"',
    "",
    "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("oracle", "bt_runtime")
        for path in (ROOT / folder).rglob("*.py")
    ),
)


@pytest.mark.parametrize("message", MESSAGES)
def test_the_service_says_each_message_of_the_table(message):
    assert [part for part in message.split("…") if part.strip(" '") not in SOURCES] == []


def test_the_service_logs_each_event_of_the_table():
    assert len(EVENTS) > 10
    assert [event for event in EVENTS if f'"{event}"' not in SOURCES] == []
