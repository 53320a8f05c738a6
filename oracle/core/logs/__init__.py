"""How log events are written: to standard error, a JSON object a line unless that is a terminal.

`configuring` formats lines, `lines` writes them, also where the reader of standard error has stopped.
"""
