"""CPU per turn with traces off, on for a trace that is not sampled, and on: two spans a turn.

The query is that of `bench_turns`: 15 turns of 50 deltas with one tool call each, a model without latency. Spans go to
a collector in another process, which takes everything and looks at nothing. The event loop's share is what delays other
queries; the rest is the thread that encodes and sends. Aim: at most 300 µs of the event loop per turn, and nothing
measurable where a trace is not sampled.
"""

import asyncio
import gc
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

from benchmarks.bench_turns import TOOLS, TURNS, InstantModel
from benchmarks.parts import oracle_over, quiet
from oracle.agent.answering import Ask
from oracle.agent.tracing import NO_TRACES, TraceHeaders, Traces
from oracle.core.chunks import Chunk

QUERIES = 10
ROUNDS = 8
AIM_US = 300
UNSAMPLED = {"traceparent": ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"]}
Query = Callable[[], Awaitable[None]]
SINK = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Sink(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_): pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


def queries(traces: Traces, headers: TraceHeaders | None = None) -> Query:
    """A query through the whole path."""
    oracle = oracle_over(InstantModel(), TOOLS)
    oracle.traces = traces
    ask = Ask("How does the auth middleware work?", limits={"max_iterations": 20}, trace=headers or {})

    async def query() -> None:
        chunks: list[Chunk] = []
        active = await oracle.open(ask, emit=chunks.append)
        await active.run()
        assert chunks[-1].termination_reason == "completed", chunks[-1]

    return query


async def cpu_per_turn_us(query: Query) -> tuple[float, float]:
    """CPU time per turn, in µs: of the event loop's thread, and of the whole process."""
    gc.collect()
    thread, process = time.thread_time(), time.process_time()
    for _ in range(QUERIES):
        await query()
    spent = time.thread_time() - thread, time.process_time() - process
    return spent[0] / QUERIES / TURNS * 1e6, spent[1] / QUERIES / TURNS * 1e6


async def measure() -> None:
    from oracle.features.traces.exporting import exporting

    async with exporting(system="bench") as out:
        ways = {
            "off": queries(NO_TRACES),
            "on, not sampled": queries(out.traces, UNSAMPLED),
            "on": queries(out.traces),
        }
        # In turn, so that other work on the machine meets all of them; the least is what it disturbs least.
        rounds = [{name: await cpu_per_turn_us(query) for name, query in ways.items()} for _ in range(ROUNDS)]
    print(f"traces: {TURNS} turns a query with a tool call each; CPU per turn, of the event loop and of the process")
    off_us = min(each["off"][0] for each in rounds)
    for name in ways:
        loop_us, all_us = (min(each[name][which] for each in rounds) for which in (0, 1))
        verdict = f"   (aim: at most {AIM_US} µs over off)" if name == "on" else ""
        ratio = f"{loop_us / off_us:5.2f}   {loop_us - off_us:+5.0f} µs"
        print(f"  {name:<24} {loop_us:8.0f} µs {ratio}   {all_us:6.0f} µs{verdict}")
    counts = out.counts
    print(f"  spans exported {counts.exported:,}, failed {counts.failed:,}, dropped {counts.dropped:,}")


def main() -> None:
    quiet()
    with subprocess.Popen([sys.executable, "-c", SINK], stdout=subprocess.PIPE, text=True) as sink:
        assert sink.stdout is not None
        os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{sink.stdout.readline().strip()}"
        try:
            asyncio.run(measure())
        finally:
            del os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]
            sink.kill()
