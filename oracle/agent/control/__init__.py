"""What drives a query: a YAML tree, or the plain loop that a decision tree in Python drives."""
