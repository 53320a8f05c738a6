"""The schema of `oracle trees init` in yaml-language-server, for editors without `oracle trees lsp`.

The package is installed from npm once and kept in the folder for temporary files.
"""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from lsprotocol import types

from oracle.cli.entry import cli
from tests.oracle.cli.language_client import Editor, LanguageClient, identified
from trees import FOLDER

VERSION = "1.18.0"
pytestmark = [
    pytest.mark.long("installs and starts a language server of npm"),
    pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed"),
]


@pytest.fixture(scope="session")
def server() -> Path:
    """The program of the pinned version."""
    folder = Path(tempfile.gettempdir()) / f"oracle-yaml-language-server-{VERSION}"
    program = folder / "node_modules" / ".bin" / "yaml-language-server"
    if not program.exists():
        folder.mkdir(exist_ok=True)
        package = f"yaml-language-server@{VERSION}"
        command = ["npm", "install", "--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund", package]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if ended.returncode:
            pytest.skip(f"yaml-language-server cannot be installed: {ended.stderr[-300:]}")
    return program


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = CliRunner().invoke(cli, ["trees", "init", str(tmp_path / "trees")])
    assert made.exit_code == 0
    return tmp_path / "trees"


@asynccontextmanager
async def editing(server: Path, folder: Path) -> AsyncIterator[Editor]:
    client = LanguageClient("test-editor", "1")
    here = Editor(client)
    await client.start_io(str(server), "--stdio", cwd=folder, env=dict(os.environ))
    try:
        await here.start(folder)
        yield here
    finally:
        if here.server.returncode is None:
            here.server.kill()
        await here.server.wait()
        await client.stop()


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.yaml")))
async def test_a_shipped_tree_has_no_mistakes(name: str, server: Path, folder: Path) -> None:
    async with editing(server, folder) as here:
        uri = here.open(folder / name, (folder / name).read_text())
        assert await here.diagnostics(uri) == []


async def test_an_unknown_setting_is_a_mistake(server: Path, folder: Path) -> None:
    head = "# yaml-language-server: $schema=./tree.schema.json\ntree: mine\n"
    async with editing(server, folder) as here:
        uri = here.open(folder / "mine.yaml", f"{head}root:\n  loop:\n    child: finish\n    untill: turn > 3\n")
        found = await here.diagnostics(uri, until="untill")
        assert [each.range.start.line for each in found if "untill" in each.message] == [5]


async def test_kinds_are_completed_with_their_descriptions(server: Path, folder: Path) -> None:
    text = "# yaml-language-server: $schema=./tree.schema.json\ntree: mine\nroot:\n  sequence:\n    - "
    async with editing(server, folder) as here:
        uri = here.open(folder / "mine.yaml", text)
        where = types.CompletionParams(identified(uri), types.Position(4, 6))
        offered = await asyncio.wait_for(here.client.text_document_completion_async(where), 60)
        items = offered.items if isinstance(offered, types.CompletionList) else offered or ()
        assert {"llm_turn", "condition", "selector", "stop"} <= {each.label for each in items}
