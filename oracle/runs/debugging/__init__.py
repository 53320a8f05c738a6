"""Live debugging of runs: pause, step, breakpoints, changed values and forced results, for operators.

`debugger` has the sessions of a process; `session` holds one run between its ticks; `watching` finds which breakpoint a
tick hits; `commands` is what an operator can ask for. What the log keeps of it is `oracle.runs.record.debug`.
"""
