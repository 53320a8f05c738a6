"""The editing of tree files: what an editor and the service's API say about a text while it is typed.

All functions are pure: they take a `Desk` (the trees around the file, kinds, keys and tools), a text and a position,
and change nothing. Lines and columns count from 1, a column counts characters.
"""
