"""The console's types are those of the service."""

import json
import shutil
import subprocess

import pytest

from oracle.service import describe_service
from tests.web.built import TASKS, WEB

SCHEMA = WEB / "src" / "api" / "schema.ts"


@pytest.mark.skipif(shutil.which("node") is None, reason="There is no node.")
@pytest.mark.skipif(not TASKS["has_packages"](), reason="web/node_modules is not that of the lock file: run `npm ci`.")
def test_the_types_are_current(tmp_path):
    written = tmp_path / "schema.ts"
    subprocess.run(
        ["node", WEB / "scripts" / "types.mjs", written],
        input=json.dumps(describe_service()).encode(),
        check=True,
        timeout=120,
    )
    assert written.read_text(encoding="utf-8") == SCHEMA.read_text(encoding="utf-8"), "run `make types`"
