from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from oracle.tools import ToolRegistry, project_tools, vault_tools

REPORT = """'''Report mistakes of a tree file like a compiler.'''

def report_mistakes(file):
    ...
"""
RETRY = """def backoff_delays(attempts):
    for attempt in range(attempts):
        yield 2**attempt
"""
CLIENT = """export async function fetchInvoice(id: string) {
  return request(`/invoices/${id}`)
}
"""
MIDDLEWARE = """
'''Checks who calls.'''
class AuthMiddleware:
    def __call__(self, request):
        return self.check_token(request)
    def check_token(self, request):
        if not request.token:
            raise PermissionError("no token")
"""
FILES = {
    "service/auth/middleware.py": MIDDLEWARE,
    "service/auth/sessions.py": "def refresh_session(session):\n    session.expires = later()\n",
    "service/http/retry.py": RETRY,
    "service/http/client.ts": CLIENT,
    "service/tree/reader.py": "def read(text):\n    mistakes = collect(text)\n    return mistakes\n",
    "service/tree/report.py": REPORT,
    "service/street.py": "profile = 'street: restricted'\n",
    "tests/test_middleware.py": "def test_check_token():\n    assert check_token(request)\n",
    "README.md": "# The service\n\nAuth is done in the middleware.\n",
    "data/tokens.json": '{"token": "token token token check_token"}\n',
    "Dockerfile": "FROM python\nRUN pip install .\n",
}


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
def root(tmp_path: Path, write: Callable[..., Path]) -> Path:
    """A small project."""
    for path, text in FILES.items():
        write(f"project/{path}", text)
    return tmp_path / "project"


@pytest.fixture
def project(tmp_path: Path) -> ToolRegistry:
    (tmp_path / "project").mkdir()
    return ToolRegistry(project_tools(tmp_path / "project"))


@pytest.fixture
def vault(tmp_path: Path, clock: Clock) -> ToolRegistry:
    return ToolRegistry(vault_tools(tmp_path / "vault", now=clock))
