"""The same question under another control, out of the sight of users; and what such pairs say."""

from oracle.core.features import Feature, Setting

FEATURE = Feature(
    name="shadow",
    summary="Runs a share of the questions again under another control, and reports how the two differ.",
    settings=(
        Setting(
            "shadow_primary",
            "With `shadow`: what answers users, `tree` or `loop`.",
            kind="text",
            default="tree",
            choices=("tree", "loop"),
        ),
        Setting(
            "shadow_control",
            "With `shadow`: what runs for comparison: `loop`, a tree, or `NAME@VERSION` of a recorded run.",
            kind="text",
            most=255,
        ),
        Setting(
            "shadow_rate",
            "With `shadow`: the share of runs that are compared.",
            kind="number",
            default=1,
            least=0,
            most=1,
        ),
        Setting(
            "shadow_tokens_per_hour",
            "With `shadow`: tokens per hour for shadow runs; 0: no limit.",
            kind="whole",
            default=1_000_000,
            least=0,
            most=1_000_000_000,
            is_limit=True,
        ),
    ),
    calls=("oracle.features.shadow.calls:router",),
    tables=("oracle.features.shadow.pairs:KEEPING",),
    commands={"shadow": ("oracle.features.shadow.command:shadow", "Compare the control that answers with its shadow.")},
    opens="oracle.features.shadow.running:open_shadows",
    when="control=shadow",
)
