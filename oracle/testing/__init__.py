"""Doubles for tests, part of the product: a model that follows a script, and a provider that does so over the wire."""

from oracle.models.scripted import ScriptedCall, ScriptedModel, ScriptedSearch, ScriptedTurn
from oracle.testing.provider import Disturbed, HttpError, RecordedRequest, Reply, StandInProvider
from oracle.testing.provider_cache import CacheUse, PromptCache

__all__ = [
    "CacheUse",
    "Disturbed",
    "HttpError",
    "PromptCache",
    "RecordedRequest",
    "Reply",
    "ScriptedCall",
    "ScriptedModel",
    "ScriptedSearch",
    "ScriptedTurn",
    "StandInProvider",
]
