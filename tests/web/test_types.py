"""The console's types are those of the service."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.web.built import TASKS, WEB


@pytest.mark.skipif(shutil.which("node") is None, reason="There is no node.")
@pytest.mark.skipif(not TASKS["has_packages"](), reason="web/node_modules is not that of the lock file: run `npm ci`.")
@pytest.mark.long("starts Node.js and the service's description")
def test_the_types_are_made_of_the_description_and_stay_while_it_does(tmp_path):
    written = tmp_path / "schema.ts"

    def write() -> None:
        subprocess.run(
            ["node", WEB / "scripts" / "types.mjs", written],
            env=os.environ | {"CONSOLE_PYTHON": sys.executable},
            check=True,
            timeout=120,
        )

    write()
    assert '"/api/settings/agent-config"' in written.read_text(encoding="utf-8")
    os.utime(written, (1_700_000_000, 1_700_000_000))
    write()
    assert written.stat().st_mtime == 1_700_000_000


@pytest.mark.skipif(shutil.which("node") is None, reason="There is no node.")
@pytest.mark.skipif(not TASKS["has_packages"](), reason="web/node_modules is not that of the lock file: run `npm ci`.")
@pytest.mark.long("starts npm and the service's description")
def test_the_client_for_other_pages_is_packed_with_its_types():
    packed = subprocess.run(
        ["npm", "pack", "--dry-run", "--json", "--loglevel", "error"],
        cwd=WEB / "client",
        env=os.environ | {"CONSOLE_PYTHON": sys.executable},
        check=True,
        timeout=120,
        capture_output=True,
        text=True,
    )
    files = {f"./{each['path']}" for each in json.loads(packed.stdout[packed.stdout.index("[\n") :])[0]["files"]}
    package = json.loads((WEB / "client" / "package.json").read_text(encoding="utf-8"))
    assert {package["types"], *package["exports"]["."].values(), "./dist/schema.d.ts"} <= files
    assert not [file for file in files if file.endswith(".ts") and not file.endswith(".d.ts")]
