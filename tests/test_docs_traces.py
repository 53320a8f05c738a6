"""docs/traces.md: the names exist, the example of a tool works, and the collector's file is YAML."""

import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml
from opentelemetry.sdk import environment_variables
from opentelemetry.sdk.trace import TracerProvider

from oracle.core.metrics import Metrics
from oracle.features.traces import exporting, names
from oracle.features.traces.names import LONGEST
from oracle.features.traces.spans import SpanTraces

PAGE = (Path(__file__).parents[1] / "docs" / "traces.md").read_text(encoding="utf-8")
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def block(language):
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found


@pytest.mark.parametrize("name", sorted(set(re.findall(r"OTEL_[A-Z_]+[A-Z]", PAGE)) - {"OTEL_EXPORTER_OTLP_TRACES"}))
def test_every_documented_variable_is_one_of_opentelemetrys(name):
    assert name in vars(environment_variables) or name == exporting._EXPORTER


def test_every_attribute_is_in_the_tables_and_no_other_one():
    known = {value for name, value in vars(names).items() if name.isupper() and isinstance(value, str) and "." in value}
    assert set(re.findall(r"^\| `([a-z_.]+)` \|", PAGE, re.MULTILINE)) == known


def test_the_documented_metric_exists():
    metrics = Metrics()
    metrics.watch_spans(lambda: {"exported": 1, "failed": 2, "dropped": 3})
    for outcome in re.findall(r'outcome="(\w+)"', PAGE):
        assert f'oracle_trace_spans_total{{outcome="{outcome}"}}' in metrics.exposition().decode()


def test_the_documented_bounds_are_the_bounds():
    assert f"A text has at most {LONGEST:,} characters" in PAGE
    assert f"waits {exporting.FLUSH_S:g} seconds at most" in PAGE
    assert exporting._DEFAULT_QUEUE_SIZE == 2_048


def test_the_collectors_file_has_what_its_pipeline_names():
    config = yaml.safe_load(block("yaml"))
    for part, wanted in config["service"]["pipelines"]["traces"].items():
        assert set(wanted) <= set(config[part])


async def test_the_example_of_a_tool_sends_the_headers():
    seen = []

    class Inventory(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, self.headers["traceparent"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"three")

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Inventory) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        scope = {}
        code = block("python").replace("http://inventory.internal", f"http://127.0.0.1:{server.server_address[1]}")
        exec(code, scope)
        traces = SpanTraces(TracerProvider(shutdown_on_exit=False).get_tracer("test"), system="anthropic")
        run = traces.begin(tree="oracle", version=None, model="any", headers={"traceparent": [PARENT]})
        with run.entered():
            assert await scope["look_up"]({"item": "bolt"}) == "three"
        server.shutdown()
        thread.join()
    assert seen == [("/items?item=bolt", run.noted()["run"]["traceparent"])]
