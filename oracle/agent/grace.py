"""How long a query waits for work that ignores its cancellation."""

from dataclasses import dataclass
from time import monotonic

CANCEL_GRACE_S = 0.05
"""How long a cancelled model or tool may take to end, in real seconds: a query ends within 100 ms of its limit."""
LEAST_S = 0.005
"""For what is cancelled when that time is used up; what heeds its cancellation needs less."""


@dataclass(slots=True)
class CancelGrace:
    """The grace time of one query: each cancelled work has all of it, until the query is to end.

    From then on they share it: a tree may halt one after the other, and `done` would wait for each.
    """

    _until_s: float | None = None

    def end(self) -> None:
        """The query is to end now; does nothing the second time."""
        if self._until_s is None:
            self._until_s = monotonic() + CANCEL_GRACE_S

    def seconds(self) -> float:
        """How long work that is cancelled now may take to end, in real seconds."""
        return CANCEL_GRACE_S if self._until_s is None else max(LEAST_S, self._until_s - monotonic())
