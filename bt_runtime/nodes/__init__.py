"""The base classes of nodes, and what they share with the run loop."""
