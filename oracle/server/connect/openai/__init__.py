"""What OpenAI's clients speak."""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="openai",
    summary="Serves clients of OpenAI's chat completions and Responses below /v1.",
    settings=(
        Setting(
            "openai_activity",
            "`1`: chat completions show tool calls and waiting questions as reasoning; `0`: only the model's thinking.",
            kind="flag",
            default=True,
        ),
    ),
    adapters={"/v1": "oracle.server.connect.openai.routes"},
)
