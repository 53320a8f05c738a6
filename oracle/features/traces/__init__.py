"""Traces of queries through OpenTelemetry, for operators who have switched them on; nothing else imports it."""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="traces",
    summary="Exports traces of runs through OpenTelemetry.",
    settings=(
        Setting(
            "traces",
            "`on` exports traces to an OpenTelemetry collector, set by `OTEL_…`. Needs `oracle-bt[otel]`.",
            kind="text",
            default="off",
            choices=("off", "on"),
        ),
        Setting(
            "traces_content",
            "`1` adds questions, answers, and tools' arguments and results to traces.",
            kind="flag",
            default=False,
        ),
    ),
    prepares="oracle.features.traces.opening:open_traces",
    when="traces",
)
