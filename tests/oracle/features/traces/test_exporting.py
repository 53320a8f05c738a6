"""Collectors that are down, slow or wrong, and set-ups that cannot work."""

import asyncio
import socket
import sys
import threading
import time

import pytest

from oracle.agent.tracing import NO_TRACES
from oracle.core.errors import OperatorError
from oracle.features.traces.exporting import FLUSH_S, exporting
from oracle.features.traces.opening import open_traces
from oracle.llm.offline import OfflineModel
from oracle.server.settings.reading import SettingsError, read_settings
from oracle.server.wiring.agent import Fittings, prepared
from tests.acceptance.harness import harness, says


async def ask_once(traces):
    async with harness([says("Well.")], wire=False, traces=traces) as it:
        return await it.ask()


async def test_a_collector_that_refuses_changes_nothing_for_the_user(collector):
    collector.mood = "garbage"
    async with exporting(system="anthropic") as out:
        assert (await ask_once(out.traces)).answer == "Well."
    assert (out.counts.exported, out.counts.failed) == (0, 2)
    assert collector.requests == 1, "a 400 is not repeated"


async def test_a_collector_that_is_not_there_changes_nothing_for_the_user(collector, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.1")
        async with exporting(system="anthropic") as out:
            assert (await ask_once(out.traces)).answer == "Well."
    assert (out.counts.exported, out.counts.failed) == (0, 2)


async def test_a_collector_that_never_answers_delays_the_end_by_a_bounded_time(collector, monkeypatch):
    monkeypatch.setattr("oracle.features.traces.exporting.FLUSH_S", 0.05)
    collector.mood = "hangs"
    began = time.monotonic()
    async with exporting(system="anthropic") as out:
        assert (await ask_once(out.traces)).answer == "Well."
    assert time.monotonic() - began < FLUSH_S
    assert out.counts.exported == 0
    collector.released.set()
    (late,) = [thread for thread in threading.enumerate() if thread.name == "traces-shutdown"] or [None]
    if late is not None:
        await asyncio.to_thread(late.join, 10)


async def test_what_does_not_fit_into_the_queue_is_dropped_and_counted(collector, monkeypatch):
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
    collector.mood = "hangs"
    async with exporting(system="anthropic") as out:
        await ask_once(out.traces)  # two spans, which wake the thread
        await asyncio.to_thread(collector.reached.wait, 10)
        for _ in range(5):
            assert (await ask_once(out.traces)).answer == "Well."
        counts = out.counts
        assert (counts.waiting, counts.dropped) == (4, 6)
        collector.mood = "well"
        collector.released.set()
    assert (counts.exported, counts.failed, counts.waiting) == (6, 0, 0)
    assert len(collector.spans) == 6


async def test_the_operators_name_of_the_service_and_compression_are_honoured(collector, monkeypatch):
    monkeypatch.setenv("OTEL_SERVICE_NAME", "support-bot")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    async with exporting(system="anthropic") as out:
        await ask_once(out.traces)
    assert collector.refusals == []
    resource = collector.spans[0].resource
    assert (resource["service.name"], resource["deployment.environment.name"]) == ("support-bot", "test")


async def test_a_wrong_address_is_counted_as_failure(collector, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{collector.url}/elsewhere")
    async with exporting(system="anthropic") as out:
        await ask_once(out.traces)
    assert collector.refusals == [404]
    assert out.counts.failed == 2


async def test_the_sdk_can_be_disabled_and_nothing_exported(collector, monkeypatch):
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    async with exporting(system="anthropic") as out:
        assert (await ask_once(out.traces)).answer == "Well."
    monkeypatch.delenv("OTEL_SDK_DISABLED")
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    async with exporting(system="anthropic") as out:
        assert (await ask_once(out.traces)).answer == "Well."
    assert collector.requests == 0


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("OTEL_TRACES_EXPORTER", "zipkin", "must be 'otlp' or 'none', not 'zipkin'"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "must be 'http/protobuf', not 'grpc'"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json", "must be 'http/protobuf'"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317", "must be an address like 'http://localhost:4318'"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://[", "must be an address"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "many", "an OTEL_BSP_… variable cannot be used"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "0", "an OTEL_BSP_… variable cannot be used"),
    ],
)
async def test_what_would_export_nothing_ends_the_start(collector, monkeypatch, name, value, problem):
    monkeypatch.setenv(name, value)
    with pytest.raises(OperatorError) as raised:
        async with exporting(system="anthropic"):
            pass
    assert problem in str(raised.value)


async def test_without_the_extra_the_start_says_what_to_install(monkeypatch):
    for module in [name for name in sys.modules if name.startswith("oracle.features.traces.exporting")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with pytest.raises(SettingsError, match=r"pip install 'oracle-bt\[otel\]'"):
        async with open_traces(read_settings(traces="on"), Fittings(OfflineModel())):
            pass


@pytest.mark.long("starts an interpreter")
async def test_off_is_the_default_and_imports_neither_the_spans_nor_opentelemetry():
    fittings = Fittings(OfflineModel())
    async with prepared(read_settings(), fittings):
        assert fittings.traces is NO_TRACES
    absent = "{'oracle.features.traces.opening', 'oracle.features.traces.spans', 'opentelemetry'}"
    code = f"import sys, oracle.server.wiring.agent; sys.exit(bool({absent} & {{*sys.modules}}))"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    assert await process.wait() == 0
