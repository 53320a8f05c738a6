"""Heuristic classification of queries by subject, and of responses by the state of the work.

`classify_query` determines the type of a query, which selects the prompt and the tools.
`classify_response` stands in for a trained intent classifier where a response has no usable signal; anything that
implements `IntentClassifier` can replace it. `asks_user` detects the responses that end with a question to the user,
`announces` those that end with what the model is about to do. All are pure functions of the text, use no model and no
network, and accept any text.
"""

from typing import TYPE_CHECKING

from oracle.core.loading import lazy_door

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from oracle.classify.closings import announces, asks_user
    from oracle.classify.protocol import IntentClassifier
    from oracle.classify.response import (
        HeuristicIntentClassifier,
        classify_response,
        classify_response_with,
        response_shares,
    )
    from oracle.classify.types import QueryClassification, QueryType, ResponseIntent
    from oracle.domains.code.query import classify_query, classify_query_with, query_shares, sources_spoken_of

__all__ = [
    "HeuristicIntentClassifier",
    "IntentClassifier",
    "QueryClassification",
    "QueryType",
    "ResponseIntent",
    "announces",
    "asks_user",
    "classify_query",
    "classify_query_with",
    "classify_response",
    "classify_response_with",
    "query_shares",
    "response_shares",
    "sources_spoken_of",
]

_HOMES = {
    "oracle.classify.closings": "announces asks_user",
    "oracle.classify.protocol": "IntentClassifier",
    "oracle.domains.code.query": "classify_query classify_query_with query_shares sources_spoken_of",
    "oracle.classify.response": "HeuristicIntentClassifier classify_response classify_response_with response_shares",
    "oracle.classify.types": "QueryClassification QueryType ResponseIntent",
}

__getattr__ = lazy_door(__name__, _HOMES)
