"""The parts of the service, filled in by `oracle.server.wiring`."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bt_runtime.text.data import dataclass
from oracle.agent.answering import Oracle
from oracle.authoring.editor import TreeEditor
from oracle.console.built import Console
from oracle.core.metrics import Metrics
from oracle.llm.load import LoadSignal
from oracle.llm.protocol import Model
from oracle.runs.manager import RunManager
from oracle.runs.storage.store import Store
from oracle.server.api.auth import Authenticator
from oracle.server.api.load import Buckets, LoopLoad, OwnBuckets
from oracle.server.api.run_bodies import TurnCounts
from oracle.server.api.sse import OpenStreams, StreamTiming
from oracle.server.settings.fields import Settings

if TYPE_CHECKING:  # a service loads them with the first call that uses them
    from oracle.authoring.figures import AnswerCounts, TrialResults
    from oracle.authoring.trials import Trials
    from oracle.replay.histories.sharing import Passes

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServiceParts:
    """The parts of one service; `trials`, `answers`, `results` and `passes` are made at their first call.

    Args:
        oracle: checks questions.
        trees: that operators look at and change.
        trials: say what a text of a tree would change.
        answers: counts what nodes have answered.
        results: keep what trials have last said.
        store: keeps runs, conversations, settings and versions.
        runs: starts, cancels and ends runs; entered (recovered) before the first request.
        passes: explain recorded runs; closed at the end of the process.
        settings: the operator's.
        metrics: the counters and times for Prometheus.
        authenticator: finds the caller of a request.
        given_model: answers in place of the configured one, where the service was given it.
        provider_load: says when the provider has refused a request because of load.
        provider_answers: a provider's model answers, so that a request may name one; the embedded model is one alone.
        console: the web console; `None`: it has not been built.
        is_prepared: whether what every question needs has been loaded.
        figures: those of all workers, in Prometheus' text format; `None`: this process is alone, and has them all.
        buckets: keep how many requests users may still send.
        load: says whether the process keeps up.
        progress: counts the turns of runs under way.
        comparing: lets two runs be compared, or one be exported, at a time, because that takes memory.
        streams: open streams; closed at the end of the process.
        timing: the heartbeats and timeouts of streams.
        clock: monotonic seconds, for the rate of requests.
        body_s: how long the body of a request may take; one of the greatest size needs 17 KB/s then.
    """

    oracle: Oracle
    trees: TreeEditor
    trials: "Callable[[], Trials]"
    answers: "Callable[[], AnswerCounts]"
    results: "Callable[[], TrialResults]"
    store: Store
    runs: RunManager
    passes: "Callable[[], Passes]"
    settings: Settings
    metrics: Metrics
    authenticator: Authenticator
    provider_answers: bool
    given_model: Model | None = None
    provider_load: LoadSignal = field(default_factory=LoadSignal)
    console: Console | None = None
    is_prepared: Callable[[], bool] = lambda: True
    figures: Callable[[], Awaitable[bytes]] | None = None
    buckets: Buckets = field(default_factory=OwnBuckets)
    load: LoopLoad = field(default_factory=LoopLoad)
    comparing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    progress: TurnCounts = field(default_factory=TurnCounts)
    streams: OpenStreams = field(default_factory=OpenStreams)
    timing: StreamTiming = field(default_factory=StreamTiming)
    clock: Callable[[], float] = time.monotonic
    body_s: float = 60.0
    _of_features: dict[type, Any] = field(default_factory=dict)

    def add(self, part: object) -> None:
        """Keep a part of a feature, for its calls; there is one of each class."""
        self._of_features[type(part)] = part

    def of(self, kind: type[T]) -> T:
        """The part of a feature that is of this class.

        Raises:
            KeyError: there is none.
        """
        return cast("T", self._of_features[kind])
