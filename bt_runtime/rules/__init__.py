"""The rules of tree files: read and checked against the whole tree, and compiled to automata over the events of a run.

A `Rule` itself is data of a tree's definition (`bt_runtime.language.rule`). The reader imports this package only if a
file declares rules.
"""
