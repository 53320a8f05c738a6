"""Expressions over the blackboard, such as `turn >= 3 and not sources`.

The text is parsed into Python's syntax tree, each part of which is checked against an allow-list and turned into a
closure. Nothing is passed to `eval`, `exec` or `compile`, and no attribute of a Python object can be reached.

The language:

- constants: numbers, text in quotes, `true`, `false`, `null` (or `True`, `False`, `None`), lists `[1, 2]`;
- names: blackboard keys and the parameters of a subtree; `signal.confidence` and `signal["confidence"]` are the key
  of a map, `sources[0]` and `sources[-1]` the item of a list;
- `and`, `or`, `not`, `A if CONDITION else B`; empty text, an empty list or map, 0, false and null count as false;
- `==`, `!=`, `<`, `<=`, `>`, `>=`, `in`, `not in`, `is null`, `is not null`, also chained: `0 < turn < 3`;
- `+`, `-`, `*`, `/`, `//`, `%` on numbers, `+` on text and lists;
- functions: `len`, `min`, `max`, `any`, `all`, `abs`, `round`, `lower`, `upper`, `startswith`, `contains`.

Errors of evaluation:

- ordering or arithmetic with null. A key without a value is null; if `x > 3` were silently false, `not (x > 3)` would
  be silently true. Write `x is not null and x > 3`. `==` and `!=` with null are allowed;
- ordering things of different types, `true` or `false` among them; `==` between different types is false;
- a missing key or item; division by zero; a whole number beyond 64 bits, text or a list that grows beyond its bound.
"""
