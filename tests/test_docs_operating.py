"""docs/operating.md: the names exist, and the commands work."""

import asyncio
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from oracle.core.chunks import TokenUsage
from oracle.core.metrics import Metrics
from oracle.runs.options import RunOptions
from oracle.server.api.auth import Authenticator
from oracle.server.settings.fields import Settings
from oracle.server.settings.table import settings_table

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"ORACLE_[A-Z_]+[A-Z]", PAGE)) - {"ORACLE_MAX"}))
def test_every_documented_setting_exists(name):
    assert name in {row.name for row in settings_table()}


def test_all_settings_are_in_one_table_and_the_readme_leads_to_it():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = [row.name for row in settings_table()]
    assert re.findall(r"^\| `([A-Z_]+)` \|", PAGE.partition("\n## Settings\n")[2], re.MULTILINE) == names
    first = re.findall(r"^\| `([A-Z_]+)` \|", readme, re.MULTILINE)
    assert len(first) == 8
    assert set(first) <= set(names)
    assert "(docs/operating.md#settings)" in readme


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\b(?:oracle|process)_[a-z_]+[a-z]", PAGE))))
def test_every_documented_metric_exists(name):
    metrics = Metrics(costs_of=lambda _, used: dict.fromkeys(used.by_kind, 0.01))
    metrics.used("claude-opus", TokenUsage(output_tokens=1))
    metrics.rated("up")
    metrics.run_started("oracle")
    metrics.run_ended("oracle", "completed", seconds=1)
    metrics.tool_ended("read_file", 1, is_error=False)
    metrics.watch_encoder(lambda: True)
    metrics.text_encoded("query", "read", 0.01)
    metrics.shadow_begun()
    metrics.shadow_ended("finished", tokens=1)
    metrics.shadow_dropped("queue_full")
    metrics.webhook("delivered")
    metrics.auxiliary_answered("title", "known", tokens=1)
    assert re.search(rf"^{name}(_bucket)?[ {{]", metrics.exposition().decode(), re.MULTILINE)


def test_the_documented_defaults_are_the_defaults():
    auth, options = Settings(tokens={"t": "anna"}), RunOptions()
    assert (auth.runs_per_user, auth.requests_per_minute, auth.max_body_bytes) == (8, 60, 1_000_000)
    assert (auth.retain_days, auth.retain_mb, auth.drain_s, auth.reader_grace_s) == (30, 0, 10, 60)
    assert (options.heartbeat_s, options.silent_s, options.most_unsaved_bytes) == (1, 5, 3_000_000)


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


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(((?!http)[^)#]+)", PAGE))))
def test_every_linked_page_exists(link):
    assert (ROOT / "docs" / link).exists()
