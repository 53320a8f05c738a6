"""Scenario tests for trees: scripted conversations in YAML, and what must happen.

`files` reads and writes them as `model.Scenario`, `playing.Player` plays one, `judging.judge` compares.
"""

from oracle.core.features import Feature

FEATURE = Feature(
    name="scenarios",
    summary="Plays scripted conversations on trees, and compares the result with what is expected.",
    calls=("oracle.features.scenarios.calls:router",),
    commands={
        "trees test": (
            "oracle.features.scenarios.commands:test",
            "Play scenario files, without network and without waiting.",
        ),
        "runs scenario": ("oracle.features.scenarios.commands:scenario", "Turn a recorded run into a scenario file."),
    },
)
