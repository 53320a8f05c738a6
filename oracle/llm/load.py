"""Reports a provider's load to listeners."""

from oracle.llm.protocol import OnLoad


class LoadSignal:
    """Reports a model's refusals to its listeners."""

    def __init__(self) -> None:
        self._listeners: list[OnLoad] = []

    def listen(self, listener: OnLoad) -> None:
        """Call this at each refusal from now on."""
        self._listeners.append(listener)

    def note(self, retry_after_s: float | None) -> None:
        """The provider has refused a request."""
        for listener in self._listeners:
            listener(retry_after_s)
