"""Existing py_trees behaviours as nodes of trees: the kind `py_trees`, and the blackboard client that it gives them."""
