"""Judges the control of a tree that can be read: what works, and is not what its author can have meant."""
