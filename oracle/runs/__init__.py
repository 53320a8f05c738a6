"""Queries as runs: each has a row, a log and a worker, and is ended even if the process that answers it dies.

`manager` starts, cancels and drains them; `opening` writes the row and opens the query; `live` runs one to its end;
`recorder` writes its log, with pieces of text joined by `joining`; `recovery` ends interrupted runs from their logs;
`traced` ends their traces; `readers` knows who is connected; `upkeep` has the timers.
"""

from typing import TYPE_CHECKING

from oracle.core.loading import lazy_door

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from oracle.runs.errors import DrainingError
    from oracle.runs.live import LiveRun
    from oracle.runs.manager import RunManager
    from oracle.runs.options import RunOptions
    from oracle.runs.traced import trace_id_of

__all__ = ["DrainingError", "LiveRun", "RunManager", "RunOptions", "trace_id_of"]

__getattr__ = lazy_door(
    __name__,
    {
        "oracle.runs.errors": "DrainingError",
        "oracle.runs.live": "LiveRun",
        "oracle.runs.manager": "RunManager",
        "oracle.runs.options": "RunOptions",
        "oracle.runs.traced": "trace_id_of",
    },
)
