"""What was used by day, user and model, and what it has cost."""

from oracle.core.features import Feature

FEATURE = Feature(
    name="usage",
    summary="Tells tokens and costs by day, user and model.",
    calls=("oracle.features.usage.calls:router",),
)
