"""Answers as data: JSON by the schema of the question, which is checked before the user gets it."""

from oracle.core.features import Feature

FEATURE = Feature(
    name="structured-answers",
    summary="Lets questions ask for an answer as JSON that fits a schema.",
    fields={"response_format": "oracle.features.structured_answers.asking:read"},
    prepares="oracle.features.structured_answers.preparing:prepared",
)
