"""What users think of answers."""

from oracle.core.features import Feature

FEATURE = Feature(name="feedback", summary="Lets users rate answers.", calls=("oracle.features.feedback.calls:router",))
