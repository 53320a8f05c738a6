"""Metrics for Prometheus: runs, their times and ends, and the load of the store and the event loop.

Rules:

- The registry is not the global one, so two services in one process, or two tests, never share a figure.
- Every label's values are bounded. A name from outside (a tree, a tool that a model made up) that is one too many, or
  not among the known ones, counts as `other`, so that names cannot fill the memory.
- No metric identifies a user.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from oracle.core.chunks import TokenUsage
from oracle.core.logs import dropped_lines

CostsOf = Callable[[str, TokenUsage], Mapping[str, float] | None]
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
OTHER: Final = "other"

_MOST_NAMES = 100
_RUN_BUCKETS_S = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600)
_FIRST_CHUNK_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30)
_TURN_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300)
_TOOL_BUCKETS_S = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_STORE_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30)
_SIMILARITY_BUCKETS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
_ENCODER_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1)
_LAG_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)


class _Names:
    """The values that a label may take.

    Args:
        known: all of them; `None`: the first hundred that come.
    """

    def __init__(self, known: Collection[str] | None = None) -> None:
        self._known = set(known or ())
        self._room = _MOST_NAMES if known is None else 0

    def of(self, name: str) -> str:
        """The name, or `other`."""
        if name in self._known:
            return name
        if self._room == 0:
            return OTHER
        self._room -= 1
        self._known.add(name)
        return name


class _Counts(Collector):
    """Counts that are kept elsewhere, by their label; where there is no label, there is one count."""

    def __init__(self, name: str, meaning: str, counts: Callable[[], Mapping[str, int]], *labels: str) -> None:
        self._family = partial(CounterMetricFamily, name, meaning, labels=labels)
        self._counts = counts

    def collect(self) -> Iterable[Metric]:
        """The counts now."""
        family = self._family()
        for label, count in self._counts().items():
            family.add_metric([label] if label else [], count)
        yield family


class Metrics:
    """The figures of one service.

    Args:
        tools: names of the tools that there are; `None`: the first hundred that are called.

    Attributes:
        costs_of: what tokens of a model have cost, by kind; `None` for a model whose price is not known.
    """

    def __init__(self, *, tools: Collection[str] | None = None) -> None:
        self.registry = CollectorRegistry()
        self._counter, self._gauge = partial(Counter, registry=self.registry), partial(Gauge, registry=self.registry)
        self._histogram = partial(Histogram, registry=self.registry)
        self.costs_of: CostsOf = lambda _model, _usage: None
        self._trees = _Names()
        self._reasons = _Names()
        self._tools = _Names(tools)
        self._add_runs()
        self._add_steps()
        self._add_shadows()
        self._add_usage()
        self._add_process()

    def _add_runs(self) -> None:
        self._started = self._counter("oracle_runs_started", "Runs begun in this process.", ["tree"])
        self._ended = self._counter(
            "oracle_runs_ended", "Runs ended in this process, by termination reason.", ["tree", "reason"]
        )
        self._active = self._gauge("oracle_runs_active", "Runs under way in this process.")
        self._run_s = self._histogram(
            "oracle_run_seconds", "From a run's begin to its end.", ["tree"], buckets=_RUN_BUCKETS_S
        )
        self._recovered = self._counter("oracle_runs_recovered", "Runs of dead or silent workers that were ended here.")
        self._webhooks = self._counter(
            "oracle_webhooks", "Attempts to send a webhook from here, by outcome.", ["outcome"]
        )
        self._feedback = self._counter("oracle_feedback", "Answers rated here: up, down, or withdrawn.", ["rating"])
        self._continued = self._counter(
            "oracle_runs_continued", "Runs of dead or silent workers that have gone on here."
        )
        self._not_continued = self._counter(
            "oracle_runs_not_continued", "Runs that could not go on: they differed from their record."
        )
        self._streams = self._gauge("oracle_streams_active", "Event streams that clients have open here.")
        self._streams_opened = self._counter("oracle_streams_opened", "Event streams that clients have opened.")
        self._first_chunk_s = self._histogram(
            "oracle_first_chunk_seconds", "From a run's begin to its first chunk.", buckets=_FIRST_CHUNK_BUCKETS_S
        )

    def _add_steps(self) -> None:
        self._turn_s = self._histogram("oracle_turn_seconds", "Of an LLM turn.", buckets=_TURN_BUCKETS_S)
        self._tool_s = self._histogram(
            "oracle_tool_seconds", "Of a tool call.", ["tool", "outcome"], buckets=_TOOL_BUCKETS_S
        )
        self._events = self._counter("oracle_store_events", "Log entries committed.")
        self._queue_s = self._histogram(
            "oracle_store_queue_seconds",
            "Age of a group's oldest entry when its commit began.",
            buckets=_STORE_BUCKETS_S,
        )
        self._commit_s = self._histogram(
            "oracle_store_commit_seconds", "Of a commit of the event log.", buckets=_STORE_BUCKETS_S
        )

    def _add_shadows(self) -> None:
        self._shadows = self._counter("oracle_shadow_runs", "Shadow runs ended here, by outcome.", ["outcome"])
        self._shadows_dropped = self._counter(
            "oracle_shadow_runs_dropped", "Runs without their shadow, by reason.", ["reason"]
        )
        self._shadows_active = self._gauge("oracle_shadow_runs_active", "Shadow runs under way here.")
        self._shadow_tokens = self._counter("oracle_shadow_tokens", "Tokens that shadow runs have used here.")
        self._similarity = self._histogram(
            "oracle_shadow_answer_similarity", "Of the answers of a run and its shadow.", buckets=_SIMILARITY_BUCKETS
        )

    def _add_usage(self) -> None:
        self._auxiliary = self._counter(
            "oracle_auxiliary_requests",
            "What chat products have asked for themselves, such as titles.",
            ["task", "outcome"],
        )
        self._auxiliary_tokens = self._counter("oracle_auxiliary_tokens", "Tokens that such requests have used.")
        self._tokens = self._counter(
            "oracle_tokens",
            "Tokens of runs ended here, by kind, and by whether their price is known.",
            ["kind", "priced"],
        )
        self._cost = self._counter("oracle_cost", "What those have cost whose price is known.", ["kind"])
        self._encoded = self._counter(
            "oracle_encoder_texts", "Texts that the encoder was asked to read.", ["kind", "outcome"]
        )
        self._encoded_s = self._histogram(
            "oracle_encoder_seconds", "Of a text that the encoder has read.", buckets=_ENCODER_BUCKETS_S
        )

    def _add_process(self) -> None:
        self._lag_s = self._histogram(
            "oracle_loop_lag_seconds", "How late the event loop woke up.", buckets=_LAG_BUCKETS_S
        )
        self._writable = self._gauge("oracle_store_writable", "1 while the database can be written, else 0.")
        self._writable.set(1)
        dropped = _Counts(
            "oracle_log_lines_dropped", "Log lines dropped because nothing took them.", lambda: {"": dropped_lines()}
        )
        self.registry.register(dropped)
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)

    def run_started(self, tree: str) -> None:
        """A run begins."""
        self._started.labels(self._trees.of(tree)).inc()
        self._active.inc()

    def run_ended(self, tree: str, reason: str, *, seconds: float) -> None:
        """A run of this process has ended."""
        name = self._trees.of(tree)
        self._ended.labels(name, self._reasons.of(reason)).inc()
        self._run_s.labels(name).observe(seconds)
        self._active.dec()

    def run_recovered(self) -> None:
        """A run of a worker that died or fell silent was ended here."""
        self._recovered.inc()

    def webhook(self, outcome: str) -> None:
        """A webhook was `delivered`, has `failed` for now, or was `given_up`."""
        self._webhooks.labels(outcome).inc()

    def rated(self, rating: str) -> None:
        """A user has rated an answer `up` or `down`, or has `withdrawn` that."""
        self._feedback.labels(rating).inc()

    def run_continued(self) -> None:
        """A run of a worker that died or fell silent goes on here."""
        self._continued.inc()

    def run_not_continued(self) -> None:
        """A run could not go on, because what was repeated of it is not what was recorded."""
        self._not_continued.inc()

    def shadow_begun(self) -> None:
        """A shadow run begins."""
        self._shadows_active.inc()

    def shadow_ended(self, outcome: str, *, tokens: int, similarity: float | None = None) -> None:
        """A shadow run has ended; `similarity` if its answer was compared."""
        self._shadows_active.dec()
        self._shadows.labels(outcome).inc()
        self._shadow_tokens.inc(tokens)
        if similarity is not None:
            self._similarity.observe(similarity)

    def shadow_dropped(self, reason: str) -> None:
        """A run should have been shadowed, but is not."""
        self._shadows_dropped.labels(reason).inc()

    def auxiliary_answered(self, task: str, outcome: str, *, tokens: int) -> None:
        """A request of a chat product for itself was answered by the model, by what is `known`, or has `failed`."""
        self._auxiliary.labels(task, outcome).inc()
        self._auxiliary_tokens.inc(tokens)

    def used(self, model: str, usage: TokenUsage | None) -> None:
        """A run has ended that used these tokens."""
        if usage is None:
            return
        costs = self.costs_of(model, usage)
        for kind, count in usage.by_kind.items():
            self._tokens.labels(kind, "no" if costs is None else "yes").inc(count)
        for kind, cost in (costs or {}).items():
            self._cost.labels(kind).inc(cost)

    def stream_opened(self) -> None:
        """A client has opened a stream."""
        self._streams_opened.inc()
        self._streams.inc()

    def stream_closed(self) -> None:
        """The client has disconnected, or its stream has ended."""
        self._streams.dec()

    def first_chunk(self, seconds: float) -> None:
        """Record the time from a run's start to its first chunk."""
        self._first_chunk_s.observe(seconds)

    def turn_ended(self, seconds: float) -> None:
        """Record the time of an LLM turn."""
        self._turn_s.observe(seconds)

    def count_any_tool(self) -> None:
        """Tools come and go, so the first hundred that are called are counted by name, and not those that are known."""
        self._tools = _Names()

    def tool_ended(self, tool: str, seconds: float, *, is_error: bool) -> None:
        """Record the time of a tool call."""
        self._tool_s.labels(self._tools.of(tool), "error" if is_error else "ok").observe(seconds)

    def text_encoded(self, kind: str, outcome: str, seconds: float) -> None:
        """The encoder was asked to read a text; `seconds` is 0 if it was not read. May be called in any thread."""
        self._encoded.labels(kind, outcome).inc()
        if seconds:
            self._encoded_s.observe(seconds)

    def commit(self, *, events: int, queue_s: float, commit_s: float) -> None:
        """A group of log entries was committed."""
        self._events.inc(events)
        self._queue_s.observe(queue_s)
        self._commit_s.observe(commit_s)

    def loop_lag(self, seconds: float) -> None:
        """Record the lag of the event loop."""
        self._lag_s.observe(seconds)

    def watch_store(self, is_writable: Callable[[], bool]) -> None:
        """Call `is_writable` at each exposition."""
        self._writable.set_function(lambda: float(is_writable()))

    def watch_encoder(self, is_ready: Callable[[], bool]) -> None:
        """Call `is_ready` at each exposition; once, where an encoder is wanted."""
        ready = Gauge("oracle_encoder_ready", "1 while the encoder answers, else 0.", registry=self.registry)
        ready.set_function(lambda: float(is_ready()))

    def watch_spans(self, counts: Callable[[], Mapping[str, int]]) -> None:
        """Call `counts`, the number of spans so far by outcome, at each exposition; once, where traces are on."""
        meaning = "Spans exported, refused by the collector, or dropped."
        self.registry.register(_Counts("oracle_trace_spans", meaning, counts, "outcome"))

    def exposition(self) -> bytes:
        """All figures in Prometheus' text format (`CONTENT_TYPE`)."""
        return generate_latest(self.registry)
