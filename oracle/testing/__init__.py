"""Public test doubles: a scripted model, and a provider that plays the same scripts over the wire."""

from oracle.testing.provider import Disturbed, HttpError, RecordedRequest, Reply, StandInProvider
from oracle.testing.provider_cache import CacheUse, PromptCache
from oracle.testing.script import ScriptedCall, ScriptedSearch, ScriptedTurn
from oracle.testing.scripted import ScriptedModel, ScriptEndedError

__all__ = [
    "CacheUse",
    "Disturbed",
    "HttpError",
    "PromptCache",
    "RecordedRequest",
    "Reply",
    "ScriptEndedError",
    "ScriptedCall",
    "ScriptedModel",
    "ScriptedSearch",
    "ScriptedTurn",
    "StandInProvider",
]
