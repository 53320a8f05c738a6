"""Queries as runs: each has a row, a log and a worker, and gets an end even if the process that answers it dies.

`manager` starts, cancels and drains them; `opening` writes the row and opens the query; `live` runs one to its end;
`recorder` writes its log, with pieces of text joined by `joining`; `recovery` ends interrupted runs, and their traces,
from their logs; `readers` knows who is connected; `upkeep` has the timers.
"""
