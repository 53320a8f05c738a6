"""A collector of OTLP over HTTP in this process: it decodes what it gets, and refuses what a real one would refuse."""

import gzip
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Literal, Self

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

PATH = "/v1/traces"
TYPE = "application/x-protobuf"
Mood = Literal["well", "refuses", "garbage", "hangs"]


@dataclass(frozen=True, slots=True)
class Span:
    """A span as the collector has it."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: str
    status: str
    description: str
    attributes: Mapping[str, Any]
    events: tuple[str, ...]
    state: str
    start_ns: int
    end_ns: int
    resource: Mapping[str, Any]
    scope: str


@dataclass(slots=True)
class Collector:
    """The server; a context manager. `mood` is how it answers."""

    mood: Mood = "well"
    spans: list[Span] = field(default_factory=list)
    refusals: list[int] = field(default_factory=list)
    requests: int = 0
    released: threading.Event = field(default_factory=threading.Event)
    reached: threading.Event = field(default_factory=threading.Event)
    _server: ThreadingHTTPServer | None = None
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"collector": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        assert self._server is not None
        assert self._thread is not None
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def of(self, operation: str) -> list[Span]:
        """The spans of an operation, in the order in which they began."""
        found = [span for span in self.spans if span.attributes["gen_ai.operation.name"] == operation]
        return sorted(found, key=lambda span: span.start_ns)

    def children(self, parent: Span) -> list[Span]:
        """The spans below one, in the order in which they began."""
        return sorted((each for each in self.spans if each.parent_id == parent.span_id), key=lambda each: each.start_ns)

    def take(self, body: bytes) -> None:
        """Decode a request.

        Raises:
            DecodeError: it is none.
        """
        for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            resource = _attributes(of_resource.resource.attributes)
            for of_scope in of_resource.scope_spans:
                self.spans += [_span(span, resource, of_scope.scope.name) for span in of_scope.spans]


class _Handler(BaseHTTPRequestHandler):
    collector: ClassVar[Collector]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        collector = self.collector
        collector.requests += 1
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        collector.reached.set()
        if collector.mood == "hangs":
            collector.released.wait()
        if collector.mood != "well":
            self._answer(503 if collector.mood == "refuses" else 400, b"\x00<b>\x1b[2Jgarbage", "text/html")
            return
        status = self._taken(body)
        if status != 200:
            collector.refusals.append(status)
        self._answer(status, ExportTraceServiceResponse().SerializeToString(), TYPE)

    def do_GET(self) -> None:
        self.collector.refusals.append(405)
        self._answer(405, b"", TYPE)

    def _taken(self, body: bytes) -> int:
        if self.path != PATH:
            return 404
        if self.headers.get("Content-Type") != TYPE:
            return 415
        try:
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            self.collector.take(body)
        except (DecodeError, OSError):
            return 400
        return 200

    def _answer(self, status: int, body: bytes, content_type: str) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # the exporter has gone
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


def _span(span: WireSpan, resource: Mapping[str, Any], scope: str) -> Span:
    return Span(
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        kind=WireSpan.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_"),
        status={0: "unset", 1: "ok", 2: "error"}[span.status.code],
        description=span.status.message,
        attributes=_attributes(span.attributes),
        events=tuple(event.name for event in span.events),
        state=span.trace_state,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        resource=resource,
        scope=scope,
    )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    return [_value(each) for each in value.array_value.values] if kind == "array_value" else getattr(value, str(kind))


def texts(spans: list[Span]) -> Iterator[str]:
    """Every text in these spans."""
    for span in spans:
        yield from (span.name, span.description, *span.events, *map(str, span.attributes.values()))
