"""Traces of queries through OpenTelemetry, for operators who have switched them on; nothing else imports it."""

from oracle.core.features import Feature

FEATURE = Feature(
    name="traces",
    summary="Exports traces of queries through OpenTelemetry.",
    settings=("traces=on", "traces_content"),
    prepares="oracle.features.traces.opening:open_traces",
    when="traces",
)
