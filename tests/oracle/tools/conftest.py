from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from oracle.tools import ToolRegistry, project_tools, vault_tools


class Clock:
    """A time that moves a minute at each look."""

    def __init__(self) -> None:
        self.moment = datetime(2025, 1, 31, 9, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.moment += timedelta(minutes=1)
        return self.moment


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Puts a file below the temporary folder."""

    def put(path: str, text: str | bytes) -> Path:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    return put


@pytest.fixture
def project(tmp_path: Path) -> ToolRegistry:
    (tmp_path / "project").mkdir()
    return ToolRegistry(project_tools(tmp_path / "project"))


@pytest.fixture
def vault(tmp_path: Path, clock: Clock) -> ToolRegistry:
    return ToolRegistry(vault_tools(tmp_path / "vault", now=clock))
