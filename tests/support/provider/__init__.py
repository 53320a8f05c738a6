"""A stand-in of the provider on loopback, which plays scripts over the wire and judges requests."""

from tests.support.provider.cache import CacheUse, PromptCache
from tests.support.provider.server import RecordedRequest, StandInProvider
from tests.support.provider.wire import Disturbed, HttpError, Reply

__all__ = ["CacheUse", "Disturbed", "HttpError", "PromptCache", "RecordedRequest", "Reply", "StandInProvider"]
