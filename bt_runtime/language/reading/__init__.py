"""From the text of a tree file to a checked definition, or to all of its mistakes.

```yaml
tree: greet                       # lower-case; the file is greet.yaml
description: Says hello.
blackboard:                       # keys that the nodes read and write; a host's key can get another default
  count: {type: int, default: 0}  # int, float, str, bool, list, map, any
  hint: str
parameters:                       # what a tree that includes this one may set
  times: {type: int, default: 2}
root:
  sequence:                       # a node is a kind with its settings ...
    - has_question                # ... or a bare kind
    - condition: "count < times"  # a bare value fills the kind's shorthand
    - inverter: {condition: "count > 9"}
    - retry: {name: again, attempts: "${times}", child: greet_user}
```
"""
