"""What OpenAI's clients speak."""

from oracle.core.features import Feature

FEATURE = Feature(
    name="openai",
    summary="Serves clients of OpenAI's chat completions and Responses below /v1.",
    settings=("openai_activity",),
    adapters={"/v1": "oracle.server.connect.openai.routes"},
)
