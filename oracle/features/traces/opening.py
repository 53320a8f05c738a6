"""Traces, if the operator wants them; OpenTelemetry's SDK is imported only then."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from oracle.core.loading import collector_paused
from oracle.llm.offline import OfflineModel
from oracle.llm.routing import provider_of
from oracle.server.settings.fields import Settings
from oracle.server.settings.reading import SettingsError
from oracle.server.wiring.agent import Fittings


@asynccontextmanager
async def open_traces(settings: Settings, fittings: Fittings) -> AsyncIterator[None]:
    """Trace the queries of an Oracle; at the end the last spans are sent, within seconds.

    Raises:
        SettingsError: OpenTelemetry's packages are not installed.
        OperatorError: a variable of OpenTelemetry's cannot be used.
    """
    try:
        with collector_paused():
            from oracle.features.traces.exporting import exporting  # noqa: PLC0415  an extra
    except ImportError as error:
        raise SettingsError(
            f"ORACLE_TRACES=on needs packages that are not installed ({error.name or error} is missing); install them "
            "with `pip install 'oracle-bt[otel]'`, or set ORACLE_TRACES=off"
        ) from None
    system = "oracle" if isinstance(fittings.model, OfflineModel) else provider_of(fittings.model)
    async with exporting(system=system, with_content=settings["traces_content"]) as opened:
        fittings.traces, counts = opened.traces, opened.counts
        if fittings.metrics is not None:
            fittings.metrics.watch_spans(
                lambda: {"exported": counts.exported, "failed": counts.failed, "dropped": counts.dropped}
            )
        yield
