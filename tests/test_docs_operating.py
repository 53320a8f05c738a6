"""docs/operating.md: the settings are in one table, and the commands work."""

import asyncio
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

from oracle.server.api.auth import Authenticator
from oracle.server.settings.table import settings_table

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


def test_all_settings_are_in_one_table_and_the_readme_leads_to_it():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = [row.name for row in settings_table()]
    assert re.findall(r"^\| `([A-Z_]+)` \|", PAGE.partition("\n## Settings\n")[2], re.MULTILINE) == names
    first = re.findall(r"^\| `([A-Z_]+)` \|", readme, re.MULTILINE)
    assert len(first) == 8
    assert set(first) <= set(names)
    assert "(docs/operating.md#settings)" in readme


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


def test_a_token_signed_as_documented_is_accepted():
    (line,) = [line for block in SHELL for line in block.splitlines() if "jwt.encode" in line]
    secret = "0123456789abcdef" * 2
    script = shlex.split(line)[1:]
    environment = {**os.environ, "ORACLE_JWT_SECRET": secret}
    signed = subprocess.run([sys.executable, *script], env=environment, capture_output=True, check=True)
    authenticator = Authenticator(tokens={}, jwt_secret=secret, operators=())
    caller = asyncio.run(authenticator.caller([(b"authorization", b"Bearer " + signed.stdout.strip())]))
    assert caller.user_id == "anna"
