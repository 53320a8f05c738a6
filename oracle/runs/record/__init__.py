"""What is recorded of a run: the events of its log, and what they have come to.

`events` has a class for each kind of event, and reads and writes them; `ticks` the forms of a tick; `record` the fold
of a log; `reading` what is read of logs in a store; `debug` how a run stands by its debugger; `figures` what remains
when texts are deleted.
"""
