"""`python -m benchmarks.tree_mutants`: small changes of the shipped trees, and who notices them.

A mutant is one file of `trees/` with one change: a node, guard or setting removed, two neighbours swapped, a composite,
a condition, a comparison, a number, a reason, a topic or a text changed. `mutating` makes them, `noticing` asks the
reader, the checker, the rules of the trees, the scenarios and the verifier about them, and `graphs` gives them to
another tool as a graph.

A mutant that nobody can notice, because the tree does the same with it, is listed with its reason in
`benchmarks/equivalent_tree_mutants.yaml` and excluded from the share.
"""
