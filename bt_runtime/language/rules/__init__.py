"""Rules about runs, compiled: each rule of a tree file becomes a small automaton over the events of a run.

`Monitors(tree.rules)` judges all rules of a tree at once: begin with `start`, and `advance` with each event, which
returns the new states and the rules that the event breaks for good. The end of the run breaks those that are
`pending`.
"""
