"""What was used by day, user and model, and what it has cost."""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="usage",
    summary="Reports tokens and costs by day, user and model.",
    settings=(Setting("prices", "A file of model prices; without it costs are unknown.", kind="folder"),),
    calls=("oracle.features.usage.calls:router",),
    warnings="oracle.features.usage.missed:priced",
    opens="oracle.features.usage.prices:open_prices",
)
