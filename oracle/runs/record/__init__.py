"""The record of a run: the events of its log, and the state that they add up to.

`events` has a class for each kind of event, and reads and writes them; `ticks` the forms of a tick; `record` the fold
of a log; `reading` what is read of logs in a store; `debug` how a run stands by its debugger; `figures` what remains
when texts are deleted.
"""
