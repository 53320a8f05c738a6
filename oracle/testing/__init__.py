"""Public test doubles: a scripted model, a provider that plays the same scripts over the wire, and a fixed encoder."""

from oracle.testing.encoder import FixedEncoder
from oracle.testing.provider import Disturbed, HttpError, RecordedRequest, Reply, StandInProvider
from oracle.testing.provider_cache import CacheUse, PromptCache
from oracle.testing.script import ScriptedCall, ScriptedSearch, ScriptedTurn
from oracle.testing.scripted import ScriptedModel, ScriptEndedError

__all__ = [
    "CacheUse",
    "Disturbed",
    "FixedEncoder",
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
