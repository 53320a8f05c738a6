"""What OpenAI's clients speak."""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="openai",
    summary="Serves clients of OpenAI's chat completions and Responses below /v1.",
    settings=(
        Setting(
            "openai_activity",
            "Whether answers in the form of OpenAI's chat completions tell what tools do, and what waits for a person, "
            "in lines of their reasoning (`1`); else with thinking alone (`0`).",
            kind="flag",
            default=True,
        ),
    ),
    adapters={"/v1": "oracle.server.connect.openai.routes"},
)
