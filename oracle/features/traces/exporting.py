"""Sends spans to a collector: OTLP over HTTP, set up by OpenTelemetry's own environment variables.

Rules:

- The event loop only puts a span into a bounded queue; a thread encodes and sends. What does not fit is dropped.
- A collector that is down, slow or wrong costs spans, which are counted, and nothing else.
- The end of the process waits `FLUSH_S` for the last spans at most.
- No provider is registered for the whole process: a host may have one of its own.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import field
from typing import Final
from urllib.parse import urlsplit

import structlog
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from bt_runtime.text.data import dataclass
from oracle.core.errors import OperatorError
from oracle.features.traces import names
from oracle.features.traces.spans import REMADE, SpanTraces

log = structlog.get_logger(__name__)

FLUSH_S: Final = 3.0
DEFAULT_SERVICE: Final = "oracle"

_UNNAMED: Final = "unknown_service"
_EXPORTER: Final = "OTEL_TRACES_EXPORTER"
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOL: Final = "http/protobuf"
_QUEUE_SIZE: Final = "OTEL_BSP_MAX_QUEUE_SIZE"
_DEFAULT_QUEUE_SIZE: Final = 2048  # of OpenTelemetry's specification


@dataclass(slots=True)
class SpanCounts:
    """What became of the spans that have ended.

    Args:
        exported: the collector has taken them.
        failed: the collector was not reached, or refused them.
        dropped: the queue was full.
        waiting: they are in the queue.
    """

    exported: int = 0
    failed: int = 0
    dropped: int = 0
    waiting: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class RemadeIds(RandomIdGenerator):
    """Random ids, except where a span that was never exported is made again under its own."""

    def generate_trace_id(self) -> int:
        """An id of a trace."""
        place = REMADE.get()
        return super().generate_trace_id() if place is None else place.trace_id

    def generate_span_id(self) -> int:
        """An id of a span."""
        place = REMADE.get()
        return super().generate_span_id() if place is None else place.span_id


class CountedExporter(SpanExporter):
    """Counts what another exporter exports."""

    def __init__(self, exporter: SpanExporter, counts: SpanCounts) -> None:
        self._exporter = exporter
        self._counts = counts
        self._is_shut_down = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export a batch; never raises."""
        counts, size = self._counts, len(spans)
        with counts.lock:
            counts.waiting -= size
        try:
            result = self._exporter.export(spans)
        except Exception as error:  # noqa: BLE001  whatever the transport raises costs these spans
            log.warning("traces.not_exported", problem=type(error).__name__, spans=size)
            result = SpanExportResult.FAILURE
        with counts.lock:
            if result is SpanExportResult.SUCCESS:
                counts.exported += size
            else:
                counts.failed += size
        return result

    def shutdown(self) -> None:
        """Send nothing more."""
        if not self._is_shut_down:
            self._is_shut_down = True
            self._exporter.shutdown()


class CountedProcessor(BatchSpanProcessor):
    """OpenTelemetry's queue and thread, with a count of what does not fit."""

    def __init__(self, exporter: CountedExporter, counts: SpanCounts, *, room: int) -> None:
        self._counts = counts
        self._room = room
        super().__init__(exporter, max_queue_size=room)

    def on_end(self, span: ReadableSpan) -> None:
        """Queue a span; the oldest one goes if there is no room."""
        if span.context is not None and span.context.trace_flags.sampled:
            with self._counts.lock:
                if self._counts.waiting >= self._room:
                    self._counts.dropped += 1
                else:
                    self._counts.waiting += 1
        super().on_end(span)


@dataclass(frozen=True, slots=True)
class Exporting:
    """Traces that are being exported.

    Args:
        traces: makes the spans.
        counts: the spans so far, by outcome.
        provider: for spans of a host's own.
    """

    traces: SpanTraces
    counts: SpanCounts
    provider: TracerProvider


@asynccontextmanager
async def exporting(
    *, system: str, with_content: bool = False, environ: Mapping[str, str] = os.environ
) -> AsyncIterator[Exporting]:
    """Export spans until the end of the block, and then what is left, within `FLUSH_S`.

    Args:
        system: whose models answer, as the conventions name providers.
        with_content: whether questions, answers, arguments and results are recorded.
        environ: where OpenTelemetry's own variables are checked; it reads them from the process's environment.

    Raises:
        OperatorError: one of them cannot be used.
    """
    check_environment(environ)
    counts = SpanCounts()
    provider = TracerProvider(resource=_resource(), shutdown_on_exit=False, id_generator=RemadeIds())
    exporter = CountedExporter(_otlp_exporter(), counts)
    if environ.get(_EXPORTER, "").strip().lower() != "none":
        provider.add_span_processor(_processor(exporter, counts, environ))
    try:
        tracer = provider.get_tracer(names.SCOPE)
        yield Exporting(SpanTraces(tracer, system=system, with_content=with_content), counts, provider)
    finally:
        await _shut_down(provider, exporter)


def check_environment(environ: Mapping[str, str]) -> None:
    """Refuse what would export nothing.

    Raises:
        OperatorError: a variable asks for what there is not, or is no address.
    """
    exporter = environ.get(_EXPORTER, "").strip().lower()
    if exporter not in ("", "otlp", "none"):
        raise OperatorError(f"{_EXPORTER} must be 'otlp' or 'none', not {exporter[:100]!r}")
    for name in _PROTOCOLS:
        protocol = environ.get(name, "").strip().lower()
        if protocol not in ("", _PROTOCOL):
            raise OperatorError(
                f"{name} must be {_PROTOCOL!r}, not {protocol[:100]!r}: spans are sent over HTTP alone (port 4318 of a "
                "collector)"
            )
    for name in _ENDPOINTS:
        endpoint = environ.get(name, "").strip()
        if endpoint and not _is_address(endpoint):
            raise OperatorError(f"{name} must be an address like 'http://localhost:4318', not {endpoint[:100]!r}")


def _is_address(endpoint: str) -> bool:
    try:
        parts = urlsplit(endpoint)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _otlp_exporter() -> OTLPSpanExporter:
    try:
        return OTLPSpanExporter()
    except (ValueError, OSError) as error:
        raise OperatorError(f"an OTEL_EXPORTER_OTLP_… variable cannot be used: {error}") from None


def _processor(exporter: CountedExporter, counts: SpanCounts, environ: Mapping[str, str]) -> CountedProcessor:
    try:
        return CountedProcessor(exporter, counts, room=int(environ.get(_QUEUE_SIZE) or _DEFAULT_QUEUE_SIZE))
    except ValueError as error:
        raise OperatorError(f"an OTEL_BSP_… variable cannot be used: {error}") from None


def _resource() -> Resource:
    """What the process is; the operator's own name for it goes before ours."""
    found = Resource.create()
    unnamed = str(found.attributes.get(SERVICE_NAME, _UNNAMED)).startswith(_UNNAMED)
    return found.merge(Resource({SERVICE_NAME: DEFAULT_SERVICE})) if unnamed else found


async def _shut_down(provider: TracerProvider, exporter: SpanExporter) -> None:
    """Export what is left. The thread is a daemon: a collector that does not answer delays the end no further."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def shut_down() -> None:
        provider.shutdown()
        with suppress(RuntimeError):  # the loop was closed in the meantime
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=shut_down, name="traces-shutdown", daemon=True).start()
    try:
        await asyncio.wait_for(ended.wait(), FLUSH_S)
    except TimeoutError:
        exporter.shutdown()  # ends its waits between attempts
        log.warning("traces.not_flushed", waited_s=FLUSH_S)
