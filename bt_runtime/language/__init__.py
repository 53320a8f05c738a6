"""The language of tree files: reading, definitions, kinds, expressions and rules; no py_trees."""
