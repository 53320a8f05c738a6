"""Real npm clients against the service. Their packages are installed, so these are `soak` tests.

`tests/oracle/server/api/test_idempotency.py` replays the requests of the retrying client without it, and
`tests/oracle/server/api/test_typed.py` holds the document's types.
"""

import asyncio
import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from oracle.testing import ScriptedModel, ScriptedTurn
from tests.faults.proxy import Proxy
from tests.oracle.server.api.conftest import running_service

pytestmark = [pytest.mark.soak, pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")]

HERE = Path(__file__).with_name("node")
PATIENCE_S = 60.0


@pytest.fixture(scope="session")
def node() -> Path:
    """A folder with the clients and their dependencies; kept between runs while the packages are the same."""
    digest = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"oracle-clients-{digest}"
    folder.mkdir(exist_ok=True)
    for file in HERE.iterdir():
        shutil.copy(file, folder)
    if not (folder / "node_modules" / ".package-lock.json").exists():
        run(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    return folder


def run(folder: Path, *command: str) -> str:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


async def test_a_typescript_client_compiles_against_the_types_of_the_document(node: Path, tmp_path: Path) -> None:
    async with running_service(tmp_path) as service:
        (tmp_path / "openapi.json").write_bytes((await service.client.get("/openapi.json")).content)
    await asyncio.to_thread(
        run, node, "node_modules/.bin/openapi-typescript", str(tmp_path / "openapi.json"), "-o", "schema.d.ts"
    )
    await asyncio.to_thread(run, node, "node_modules/.bin/tsc", "--project", "tsconfig.json")


async def test_fetch_event_source_reads_each_chunk_once_when_its_connection_drops(node: Path, tmp_path: Path) -> None:
    model = ScriptedModel([ScriptedTurn(text=("One ", "two ", "three "), hang=True)])
    async with (
        asyncio.timeout(PATIENCE_S),
        running_service(tmp_path, model=model) as service,
        Proxy("127.0.0.1", service.port) as proxy,
    ):
        client = await asyncio.create_subprocess_exec(
            "node", "retrying.mjs", f"http://127.0.0.1:{proxy.port}", "a key", cwd=node, stdout=asyncio.subprocess.PIPE
        )
        assert client.stdout is not None
        lines: list[dict] = []
        is_cut = False
        async for line in client.stdout:
            lines.append(json.loads(line))
            if not is_cut and "opened" not in lines[-1] and text_of(lines) == "One two three ":
                is_cut = True
                proxy.cut()
                proxy.mend()
            elif "opened" in lines[-1] and len(lines) > 1:
                await service.client.post(f"/api/oracle/runs/{lines[0]['run']}/cancel")
        assert await client.wait() == 0
        whole = await service.resume(lines[0]["run"])
    assert [each["opened"] for each in lines if "opened" in each] == [200, 200]
    assert len({each["run"] for each in lines if "run" in each}) == 1
    assert [(each["id"], each["chunk"]) for each in lines if "id" in each] == whole.events
    assert len(model.requests) == 1


def text_of(lines: list[dict]) -> str:
    chunks = [each["chunk"] for each in lines if "chunk" in each]
    return "".join(chunk["content"] for chunk in chunks if chunk["type"] == "content")
