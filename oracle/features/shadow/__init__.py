"""The same question under another control, out of the sight of users; and what such pairs say."""

from oracle.core.features import Feature

FEATURE = Feature(
    name="shadow",
    summary="Answers a share of the questions once more under another control, and reports how the two differ.",
    settings=("control=shadow", "shadow_control", "shadow_rate", "shadow_tokens_per_hour"),
    calls=("oracle.features.shadow.calls:router",),
    commands={"shadow": ("oracle.features.shadow.command:shadow", "Compare the control that answers and another one.")},
    opens="oracle.features.shadow.running:open_shadows",
    when="control=shadow",
)
