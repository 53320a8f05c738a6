"""Explores all behaviours of a tree before it runs, and proves or refutes what must hold for each run.

`verify` drives the real tree, with the product's nodes, agent and floor, and lets everything happen that can: every
kind of response, tool result, failure, cancel and deadline that the tree can distinguish. See `docs/testing.md`.
"""

from oracle.core.features import Feature

FEATURE = Feature(
    name="verifier",
    summary="Explores all behaviours of trees, and proves or refutes properties of their runs.",
    needs=("rules", "scenarios"),
    calls=("oracle.features.verifier.calls:router",),
    commands={
        "trees verify": (
            "oracle.features.verifier.command:verify_",
            "Explore all behaviours of trees; prove or refute properties.",
        )
    },
)
