"""What is recorded of a run: the events of its log, and what they have come to.

`events` has a class for each kind of event, and reads and writes them; `ticks` the forms of a tick; `record` the fold
of a log; `reading` what is read of logs in a store; `debug` how a run stands by its debugger; `figures` what remains
when texts are deleted.
"""

from oracle.runs.record.events import LogDecoder, LogEvent, Opened, append, encode
from oracle.runs.record.figures import LogFigures
from oracle.runs.record.reading import read_record
from oracle.runs.record.record import Pending, PendingCall, Record
from oracle.runs.record.ticks import decode_tick, encode_tick

__all__ = [
    "LogDecoder",
    "LogEvent",
    "LogFigures",
    "Opened",
    "Pending",
    "PendingCall",
    "Record",
    "append",
    "decode_tick",
    "encode",
    "encode_tick",
    "read_record",
]
