"""What a tree does, in plain sentences: a row for each situation that it can meet, and which rows an edit changes.

`situations` lists what can happen, `acting` and `staging` play it on the real control, `steps` and `telling` say what
came of it, `table` has the rows of a tree, and `changes` the difference of two.
"""

from oracle.core.features import Feature

FEATURE = Feature(
    name="explaining",
    summary="Says in sentences what a tree does in each situation, and what an edit changes.",
    needs=("scenarios", "verifier", "rules"),
    calls=("oracle.features.explaining.calls:router",),
    commands={
        "trees explain": (
            "oracle.features.explaining.command:explain",
            "Say what a tree does in each situation, in sentences.",
        )
    },
    differences="oracle.features.explaining.changes:differences",
)
