"""A tree file's text to a checked `TreeDefinition`, or to all of its mistakes.

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

from bt_runtime.definition import TreeDefinition
from bt_runtime.errors import TreeFileError, TreeNotFoundError
from bt_runtime.reading.loading import Loading, Source
from bt_runtime.registry import Registry


def read_tree(text: str | bytes, *, file: str, registry: Registry) -> TreeDefinition:
    """Read one tree that stands alone; `TreeLibrary` reads trees that include others.

    Args:
        text: the file's text, or its bytes in UTF-8.
        file: its name in messages.
        registry: the kinds and keys that there are.

    Raises:
        TreeFileError: with every mistake of the file.
    """
    loading = Loading(registry, _find_nothing)
    tree = loading.load(Source(file, text))
    if tree is None:
        raise TreeFileError(loading.mistakes, loading.sources)
    return tree


def _find_nothing(name: str) -> Source:
    raise TreeNotFoundError(name)
