"""What kind of question is it, and where does a response without a clear signal say the work stands?

`classify_query` reads the user's message (020 FR-015); `HeuristicIntentClassifier` reads the model's (020 FR-022) and may be
replaced by any other `IntentClassifier`. Both are heuristics: pure functions of the text, without a model and without I/O.
"""

from oracle.classify.query import classify_query
from oracle.classify.response import HeuristicIntentClassifier, IntentClassifier, ResponseIntent, classify_response
from oracle.classify.types import QueryClassification

__all__ = [
    "HeuristicIntentClassifier",
    "IntentClassifier",
    "QueryClassification",
    "ResponseIntent",
    "classify_query",
    "classify_response",
]
