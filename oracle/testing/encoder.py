"""An encoder whose readings a test states."""

from oracle.classify.protocol import EncoderState
from oracle.classify.types import IntentShares, QueryShares


class FixedEncoder:
    """Reads every query and every response in the same way.

    Args:
        query: the shares of each query.
        intent: the shares of each response.
    """

    state: EncoderState = "ready"

    def __init__(self, *, query: QueryShares | None = None, intent: IntentShares | None = None) -> None:
        self._query = query
        self._intent = intent
        self.texts: list[str] = []
        """What it was asked to read, in order."""

    async def query_shares(self, text: str) -> QueryShares | None:
        """Those of each query."""
        self.texts.append(text)
        return self._query

    async def intent_shares(self, text: str) -> IntentShares | None:
        """Those of each response."""
        self.texts.append(text)
        return self._intent
