"""The control of a query by a YAML tree, and the floor below it; `oracle.plain_loop` runs decision trees in Python."""
