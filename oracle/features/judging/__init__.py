"""Judges recorded runs by the rules of a tree: `judging` applies them to a record, `command` prints what came of it."""

from oracle.core.features import Feature

FEATURE = Feature(
    name="judging",
    summary="Judges recorded runs by the rules of a tree.",
    needs=("rules",),
    commands={
        "trees judge": (
            "oracle.features.judging.command:judge",
            "Judge the recorded runs of the tree NAME by its rules.",
        )
    },
)
