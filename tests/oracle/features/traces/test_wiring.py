"""Traces as an operator switches them on: by the environment of a command, and of the service."""

import asyncio
import os
import sys

import pytest

from oracle.agent.answering import Ask
from oracle.server.settings.reading import read_settings
from oracle.server.wiring.agent import open_oracle
from oracle.server.wiring.service import open_service


async def test_the_environment_switches_them_on_and_the_embedded_model_is_named(collector, tmp_path):
    settings = read_settings(llm="offline", traces="on", project_dir=tmp_path, data_dir=tmp_path / "data")
    async with open_oracle(settings) as oracle:
        query = await oracle.open(Ask("Where is it?"), emit=lambda _: None)
        await query.run()
    (run,) = collector.of("invoke_agent")
    assert run.attributes["gen_ai.provider.name"] == "oracle"
    assert "gen_ai.input.messages" not in run.attributes


async def test_the_service_counts_its_spans_and_sends_the_last_ones_at_its_end(collector, tmp_path):
    settings = read_settings(llm="offline", traces="on", traces_content=True, project_dir=tmp_path, data_dir=tmp_path)
    async with open_service(settings) as parts:
        live = await parts.runs.start(Ask("Where is it?"))
        await live.wait()
        assert 'oracle_trace_spans_total{outcome="dropped"} 0.0' in parts.metrics.exposition().decode()
    (run,) = collector.of("invoke_agent")
    assert "Where is it?" in run.attributes["gen_ai.input.messages"]


@pytest.mark.long("starts the command line as a process")
async def test_a_command_exports_before_it_ends(collector, tmp_path):
    command = [sys.executable, "-m", "oracle", "ask", "Where is it?", "--project", str(tmp_path)]
    given = {"ORACLE_TRACES": "on", "ORACLE_LLM": "offline", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    process = await asyncio.create_subprocess_exec(
        *command, env=os.environ | given, cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    _, err = await process.communicate()
    assert (process.returncode, err.count(b"\n")) == (0, 1), err
    assert [run.attributes["oracle.termination_reason"] for run in collector.of("invoke_agent")] == ["completed"]


@pytest.mark.long("starts the command line as a process")
async def test_a_set_up_that_cannot_work_ends_the_command_with_a_sentence(tmp_path):
    command = [sys.executable, "-m", "oracle", "ask", "Where is it?", "--project", str(tmp_path)]
    given = {"ORACLE_TRACES": "on", "ORACLE_LLM": "offline", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    process = await asyncio.create_subprocess_exec(
        *command, env=os.environ | given, cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    _, err = await process.communicate()
    assert process.returncode == 1
    assert err.decode().startswith("Error: OTEL_EXPORTER_OTLP_PROTOCOL must be 'http/protobuf', not 'grpc'")
