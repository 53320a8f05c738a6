"""Queries as runs: each has a row, a log and a worker, and is ended whatever happens to the process that answers it.

`manager` begins, cancels and drains them; `live` sees one to its end; `recorder` writes it to the log as it goes;
`story` and `recovery` end from the log what nobody answers any more; `readers` knows who is listening; `upkeep` keeps
the time.
"""

from oracle.runs.errors import DrainingError
from oracle.runs.live import LiveRun
from oracle.runs.manager import RunManager
from oracle.runs.options import RunOptions
from oracle.runs.tick_json import decode_tick, encode_tick

__all__ = ["DrainingError", "LiveRun", "RunManager", "RunOptions", "decode_tick", "encode_tick"]
