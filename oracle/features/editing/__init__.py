"""Support for editing tree files, for editors and the service's API: mistakes, completion and descriptions of a text.

All functions are pure: they take a `Desk` (the trees around the file, kinds, keys and tools), a text and a position,
and change nothing. Lines and columns count from 1, a column counts characters.
"""

from oracle.core.features import Feature

FEATURE = Feature(
    name="editing",
    summary="Tells editors of tree files what is wrong, what can be typed, and what a word means.",
    calls=("oracle.features.editing.calls:router",),
)
