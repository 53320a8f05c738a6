"""Claude, over the Messages API.

`facts` has what the provider documents about each model, `request` and `turn` translate, `refusals` tracks the parts
that a gateway refuses, and `model` sends; only `model` imports the SDK.
"""

from oracle.core.features import Feature

FEATURE = Feature(
    name="claude",
    summary="Lets Claude answer: all models whose names begin with no other provider.",
    models="oracle.features.claude.opening:claude_models",
)
