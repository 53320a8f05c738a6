"""A command imports nothing that it does not use: what is slow to load, and who may load it."""

import asyncio
import json
import subprocess
import sys

import pytest

from oracle.testing import ScriptedTurn
from tests.support.provider import StandInProvider

_SAY_MODULES = "import sys; print('\\n'.join(sys.modules), file=sys.stderr)"
_COMMAND = f"from oracle.cli import main; main({{}}); {_SAY_MODULES}"
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

_READY = """
import asyncio, json, sys
from functools import _lru_cache_wrapper
from pathlib import Path
from oracle.agent.answering import Ask
from oracle.classify import weights
from oracle.domains.code.lexicon import lookup
from oracle.server.settings.fields import Settings
from oracle.server.wiring.service import open_service
import oracle.cli.serving

def loaded():
    caches = [each for module in (weights, lookup) for each in vars(module).values()]
    return {*sys.modules, sum(each.cache_info().currsize for each in caches if isinstance(each, _lru_cache_wrapper))}

async def start():
    async with open_service(Settings(data_dir=Path("data"), project_dir=Path(), llm="anthropic")) as parts:
        at_once = "anthropic" in sys.modules
        while not parts.is_prepared():
            await asyncio.sleep(0.01)
        before = loaded()
        live = await parts.runs.start(Ask("What is a behavior tree?"))
        ended = await live.wait()
        print(json.dumps([at_once, ended.termination_reason, [*(loaded() - before)]]))

asyncio.run(start())
"""

PATIENCE_S = 180
"""A fresh process compiles and loads much of the product, which takes a minute where eight others do so."""
_LOADS = pytest.mark.long("loads much of the product in a fresh Python")


def modules_of(code, folder):
    """The modules that a fresh process has loaded when it has run the code."""
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env={}, capture_output=True, text=True, check=True, timeout=PATIENCE_S
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
        pytest.param(["trees", "--help"], {"oracle.agent.answering", "oracle.runs.storage"}, marks=_LOADS),
        pytest.param(
            ["trees", "check"],
            {"sqlalchemy", "prometheus_client", "oracle.features.scenarios.model", "oracle.features.verifier.world"},
            marks=_LOADS,
        ),
        pytest.param(["runs", "show", "--help"], {"fastapi", "anthropic", "numpy", "bt_runtime.drawing"}, marks=_LOADS),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_a_command_loads_nothing_that_it_does_not_run_on(arguments, absent, tmp_path):
    assert modules_of(_COMMAND.format(arguments), tmp_path) & absent == set()


@_LOADS
def test_a_question_is_answered_without_the_checker(tmp_path):
    loaded = modules_of(_COMMAND.format(["ask", "What is a behavior tree?"]), tmp_path)
    assert "oracle.agent.nodes.llm_turn" in loaded
    assert loaded & {"bt_runtime.analysis", "oracle.authoring.checks", "rich"} == set()


@_LOADS
def test_tracebacks_may_still_be_drawn_by_rich(tmp_path):
    code = f"{_COMMAND.format(['ask', 'What is a behavior tree?'])}; import rich.traceback; {_SAY_MODULES}"
    assert {"structlog", "rich.traceback"} <= modules_of(code, tmp_path)


@_LOADS
async def test_a_service_that_is_ready_has_loaded_all_that_a_first_question_needs(tmp_path):
    async with StandInProvider([ScriptedTurn(text="It is one.")]) as provider:
        ran = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _READY),
            cwd=tmp_path,
            env={"ANTHROPIC_API_KEY": "test-key", "ANTHROPIC_BASE_URL": provider.url, "ORACLE_ENCODER": "off"},
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(PATIENCE_S):
                out, _ = await ran.communicate()
        finally:
            if ran.returncode is None:
                ran.kill()
    assert json.loads(out.splitlines()[-1]) == [False, "completed", []]


@_LOADS
def test_a_service_that_has_begun_has_loaded_what_answers_queries_and_no_more(tmp_path):
    loaded = modules_of(_SERVICE + _SAY_MODULES, tmp_path)
    assert "oracle.server.api.queries" in loaded
    unused = {
        "anthropic",
        "bt_runtime.analysis",
        "httpx2",
        "numpy",
        "onnxruntime",
        "opentelemetry.sdk",
        "oracle.features.traces.opening",
        "oracle.authoring.trials",
        "oracle.replay.playing",
        "oracle.replay.exports.formats",
        "oracle.server.api.history_replies",
        "oracle.server.api.trees",
        "psycopg",
        "sklearn",
    }
    assert loaded & unused == set()
