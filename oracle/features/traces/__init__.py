"""Traces of queries through OpenTelemetry, for operators who have switched them on; nothing else imports it."""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="traces",
    summary="Exports traces of queries through OpenTelemetry.",
    settings=(
        Setting(
            "traces",
            "`on` exports a trace of each query to an OpenTelemetry collector, which the variables `OTEL_…` name; "
            "needs `oracle-bt[otel]`.",
            kind="text",
            default="off",
            choices=("off", "on"),
        ),
        Setting(
            "traces_content",
            "Whether traces hold questions, answers, and arguments and results of tools (`1`).",
            kind="flag",
            default=False,
        ),
    ),
    prepares="oracle.features.traces.opening:open_traces",
    when="traces",
)
