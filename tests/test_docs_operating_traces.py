"""docs/operating.md, Traces: the names exist, and the example of a tool works."""

import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.sdk import environment_variables
from opentelemetry.sdk.trace import TracerProvider

from oracle.features.traces import exporting, names
from oracle.features.traces.names import LONGEST
from oracle.features.traces.spans import SpanTraces

PAGE = (Path(__file__).parents[1] / "docs" / "operating.md").read_text(encoding="utf-8")
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def block(language):
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found


@pytest.mark.parametrize("name", sorted(set(re.findall(r"OTEL_[A-Z_]+[A-Z]", PAGE))))
def test_every_documented_variable_is_one_of_opentelemetrys(name):
    assert name in vars(environment_variables) or name == exporting._EXPORTER


def test_every_documented_attribute_exists():
    known = {value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)}
    named = set(re.findall(r"`(oracle\.[a-z_]+(?:\.[a-z_]+)?)`", PAGE)) - {"oracle.db", "oracle.service"}
    assert {"oracle.run.id", "oracle.node.path"} <= named
    assert named | set(re.findall(r"\(`([a-z_]+)`\)", PAGE.partition("### Traces")[2])[:2]) <= known


def test_the_documented_bounds_are_the_bounds():
    assert f"texts of at most {LONGEST:,} characters" in PAGE
    assert f"queue of {exporting._DEFAULT_QUEUE_SIZE:,}" in PAGE


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
