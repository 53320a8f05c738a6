"""Runs as the terminal shows them: a list, one run at one tick, why the tick ended as it did, and two runs compared.

Pure functions make lines of rich's `Text` from a `History`; `Screen` alone writes to a terminal.
"""
