"""Models that speak OpenAI's chat completions: local servers, other providers, gateways.

`providers` lists the providers, `request` and `completion` translate, and `model` sends; only `model` imports the SDK.
"""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="openai-compatible",
    summary="Lets models of other providers answer, by OpenAI's chat completions.",
    settings=(
        Setting(
            "providers",
            "A file of model providers and roles; default: `providers.yaml` in the data folder. Environment only.",
            kind="folder",
            decides="where keys are sent",
        ),
    ),
    models="oracle.features.openai_compatible.opening:other_models",
)
