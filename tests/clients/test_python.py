"""What openapi-python-client makes of the document. It is installed, so this is a `soak` test."""

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.oracle.service.conftest import running_service
from tests.oracle.test_chunks import GOLDEN

pytestmark = pytest.mark.soak

GENERATOR = "openapi-python-client==0.29.1"


@pytest.fixture(scope="session")
def environment() -> Path:
    """The commands of an environment that has the generator; kept between runs."""
    folder = Path(tempfile.gettempdir()) / f"oracle-{GENERATOR.replace('==', '-')}"
    if not (folder / "installed").exists():
        run(sys.executable, "-m", "venv", str(folder))
        run(str(folder / "bin" / "pip"), "install", "--quiet", GENERATOR)
        (folder / "installed").touch()
    return folder / "bin"


def run(*command: str) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


async def test_a_generated_python_client_reads_every_type_of_chunk(environment: Path, tmp_path: Path) -> None:
    document, package, recorded = tmp_path / "openapi.json", tmp_path / "oracle_client", tmp_path / "chunks"
    async with running_service(tmp_path) as service:
        document.write_bytes((await service.client.get("/openapi.json")).content)
    recorded.write_text("\n".join(json.dumps(chunk) for chunk in GOLDEN["chunks"].values()), encoding="utf-8")
    generate = ("generate", "--path", str(document), "--output-path", str(package), "--meta", "none")
    await asyncio.to_thread(run, str(environment / "openapi-python-client"), *generate)
    reading = Path(__file__).with_name("reading.py")
    told = await asyncio.to_thread(run, str(environment / "python"), str(reading), str(package), str(recorded))
    read = [json.loads(line) for line in told.splitlines()]
    assert [wire for _, wire in read] == list(GOLDEN["chunks"].values())
    assert {name for name, _ in read} == {
        "ThinkingChunk", "ContentChunk", "SourceChunk", "ToolCallChunk", "ToolResultChunk", "SystemChunk", "ErrorChunk",
        "DoneChunk",
    }  # fmt: skip
