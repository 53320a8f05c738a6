"""Word of the provider's load, for all who share its key."""

from collections.abc import Callable

OnLoad = Callable[[float | None], None]
"""Called when the provider has refused a request because of its load or a rate limit, with the wait that it asks for in
seconds, if it asks for one; must not block."""


class LoadSignal:
    """Passes the word of a model's refusals on to those who listen."""

    def __init__(self) -> None:
        self._listeners: list[OnLoad] = []

    def listen(self, listener: OnLoad) -> None:
        """Call this at each refusal from now on."""
        self._listeners.append(listener)

    def note(self, retry_after_s: float | None) -> None:
        """The provider has refused a request."""
        for listener in self._listeners:
            listener(retry_after_s)
