"""Features: each folder is one, and the product works without it (`oracle.core.features`).

A feature uses the rooms of the kernel, and no other feature but those that it needs; the kernel imports none.
"""
