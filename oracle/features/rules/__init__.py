"""The rules of a tree while a query runs: what would break one is refused, stopped, or reported to the user.

`EventStream` turns what happens in a run into events, and `events_of` does so for a whole record; `RunRules` judges the
events of a run while it goes on. Without this feature a rule can be declared, and not enforced.
"""

from oracle.core.features import Feature

FEATURE = Feature(
    name="rules",
    summary="Enforces the rules of trees during runs: refuses calls, stops the run, or notifies the user.",
)
