"""Support for editing tree files, for editors and the service's API: mistakes, completion and descriptions of a text.

All functions are pure: they take a `Desk` (the trees around the file, kinds, keys and tools), a text and a position,
and change nothing. Lines and columns count from 1, a column counts characters.
"""

from oracle.core.features import Feature

FEATURE = Feature(
    name="editing",
    summary="Gives editors of tree files diagnostics, completion and explanations.",
    calls=("oracle.features.editing.calls:router",),
)
