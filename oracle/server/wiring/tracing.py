"""Traces, if the operator wants them; OpenTelemetry's SDK is imported only then."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from oracle.agent.tracing import NO_TRACES, Traces
from oracle.core.loading import collector_paused
from oracle.llm.offline import OfflineModel
from oracle.llm.protocol import Model
from oracle.server.settings.fields import Settings
from oracle.server.settings.reading import SettingsError

if TYPE_CHECKING:  # commands that have no metrics do not load their library
    from oracle.core.metrics import Metrics


@asynccontextmanager
async def open_traces(settings: Settings, *, model: Model, metrics: "Metrics | None" = None) -> AsyncIterator[Traces]:
    """Traces according to the settings; at the end the last spans are sent, within seconds.

    Args:
        settings: the operator's.
        model: whose turns are traced.
        metrics: count the spans.

    Raises:
        SettingsError: OpenTelemetry's packages are not installed.
        OperatorError: a variable of OpenTelemetry's cannot be used.
    """
    if settings.traces == "off":
        yield NO_TRACES
        return
    try:
        with collector_paused():
            from oracle.otel.exporting import exporting  # noqa: PLC0415  an extra
    except ImportError as error:
        raise SettingsError(
            f"ORACLE_TRACES=on needs packages that are not installed ({error.name or error} is missing); install them "
            "with `pip install 'oracle-bt[otel]'`, or set ORACLE_TRACES=off"
        ) from None
    system = "oracle" if isinstance(model, OfflineModel) else "anthropic"
    async with exporting(system=system, with_content=settings.traces_content) as opened:
        if metrics is not None:
            counts = opened.counts
            metrics.watch_spans(
                lambda: {"exported": counts.exported, "failed": counts.failed, "dropped": counts.dropped}
            )
        yield opened.traces
