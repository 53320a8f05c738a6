"""A command imports nothing that it does not use: what is slow to load, and who may load it."""

import subprocess
import sys

import pytest

_SAY_MODULES = "import sys; print('\\n'.join(sys.modules), file=sys.stderr)"
_HELP = f"from oracle.cli import main; main({{}}); {_SAY_MODULES}"
_SERVICE = """
import asyncio
from pathlib import Path
from oracle.server.api.app import build_app
from oracle.server.settings.fields import Settings
from oracle.server.wiring.service import open_service
import oracle.cli.serving

async def start():
    settings = Settings(data_dir=Path("data"), project_dir=Path(), llm="offline")
    async with open_service(settings) as parts:
        build_app(parts)

asyncio.run(start())
"""


_LOADS = pytest.mark.long("loads much of the product in a fresh Python")


def modules_of(code, folder):
    """The modules that a fresh process has loaded when it has run the code."""
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env={}, capture_output=True, text=True, check=True, timeout=60
    )
    return set(ran.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["--help"], {"pydantic", "rich", "structlog", "asyncio", "py_trees"}),
        (["ask", "--help"], {"rich", "structlog", "asyncio", "py_trees", "sqlalchemy", "pydantic_settings"}),
        (["serve", "--help"], {"rich", "structlog", "py_trees", "sqlalchemy", "fastapi", "uvicorn"}),
        pytest.param(
            ["runs", "list", "--help"], {"fastapi", "anthropic", "bt_runtime.kinds", "bt_runtime.drawing"}, marks=_LOADS
        ),
        pytest.param(["runs", "show", "--help"], {"fastapi", "anthropic", "numpy", "bt_runtime.drawing"}, marks=_LOADS),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_help_loads_nothing_that_the_command_would_run_on(arguments, absent, tmp_path):
    assert modules_of(_HELP.format(arguments), tmp_path) & absent == set()


@_LOADS
def test_a_service_that_has_begun_has_loaded_what_answers_queries_and_no_more(tmp_path):
    loaded = modules_of(_SERVICE + _SAY_MODULES, tmp_path)
    assert "oracle.server.api.queries" in loaded
    unused = {
        "anthropic",
        "httpx2",
        "numpy",
        "onnxruntime",
        "opentelemetry.sdk",
        "oracle.authoring.verifying.verify",
        "oracle.replay.exports.page",
        "oracle.server.api.history_replies",
        "oracle.server.api.trees",
        "psycopg",
        "sklearn",
    }
    assert loaded & unused == set()
