"""Rules about runs, compiled: each rule of a tree file becomes a small automaton over the events of a run.

`Monitors(tree.rules)` judges all rules of a tree at once: begin with `start`, `step` over the events, and ask for
`violated`; `would_violate` says it before an event has happened. `judge` does all that for a whole run.
"""

from bt_runtime.rules.automaton import Automaton
from bt_runtime.rules.matching import condition_of
from bt_runtime.rules.monitor import Monitor, Monitors, State, States, Verdict, Violation, judge
from bt_runtime.rules.templates import automaton_of

__all__ = [
    "Automaton",
    "Monitor",
    "Monitors",
    "State",
    "States",
    "Verdict",
    "Violation",
    "automaton_of",
    "condition_of",
    "judge",
]
