"""A hold on a run between two ticks, for debuggers.

A pacer is asked before the first tick and after each tick after which the tree is RUNNING: after the halted nodes have
got their partial results, and before what the tick posted is started. As long as it does not return the run stands
still: work under way goes on, its outcomes and all deliveries wait. What was delivered meanwhile gets a tick of its own
before any posted request is started, so a changed value or a forced result decides what starts.

A pacer decides nothing that a record does not have: deliveries are in the tick records, and a hold changes no other
input of the tree, if the run's clock stands still with it (`PausableClock`). So a replay needs no pacer.
"""

from collections.abc import Sequence
from typing import Protocol

from bt_runtime.context import Request
from bt_runtime.recording import TickRecord


class Pacer(Protocol):
    """Holds one run between its ticks."""

    async def before_first_tick(self) -> None:
        """Return when the run may begin."""
        ...

    async def after_tick(self, record: TickRecord, posted: Sequence[Request]) -> None:
        """Return when the run may go on.

        Args:
            record: of the tick.
            posted: requests that have not been started, in the order in which they were posted.
        """
        ...

    def release(self) -> None:
        """The run is to end: return from the present hold, and hold it no more."""
        ...
