"""Text for people: suggestions for mistyped names, mistakes with their places, token estimates, times, and dataclasses.

Every room may import this package; it imports none. `bt_runtime.text.yaml_reader` is imported by its own name, because
it loads PyYAML.
"""

from bt_runtime.text.mistakes import (
    MOST_MISTAKES,
    Edit,
    Fix,
    Mistake,
    Place,
    Severity,
    format_mistakes,
    in_order,
    place_at,
)
from bt_runtime.text.phrases import (
    CHARACTERS_PER_TOKEN,
    brief,
    estimate_tokens,
    extent,
    iso,
    size_of,
    visible,
    without_long,
)
from bt_runtime.text.suggestions import Suggestion, closest, did_you_mean, listing, near

__all__ = [
    "CHARACTERS_PER_TOKEN",
    "MOST_MISTAKES",
    "Edit",
    "Fix",
    "Mistake",
    "Place",
    "Severity",
    "Suggestion",
    "brief",
    "closest",
    "did_you_mean",
    "estimate_tokens",
    "extent",
    "format_mistakes",
    "in_order",
    "iso",
    "listing",
    "near",
    "place_at",
    "size_of",
    "visible",
    "without_long",
]
