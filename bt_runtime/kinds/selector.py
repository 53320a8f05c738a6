"""The `selector` kind."""

from py_trees import composites

from bt_runtime.kinds.in_order import InOrder, InOrderSettings
from bt_runtime.language.kind import Facts
from bt_runtime.nodes.registration import CHILDREN, node
from bt_runtime.record.status import FAILURE


@node(
    "selector",
    category="composite",
    settings=InOrderSettings,
    slots=CHILDREN,
    shorthand="children",
    facts=Facts(keeps=("_next",)),
)
class Selector(InOrder):
    """Ticks its children in order, until one does not fail.

    SUCCESS as soon as a child succeeds; FAILURE when all have failed; RUNNING while one is running.
    With `memory: false` the children before the running one are ticked again at every tick, and when one of them does
    not fail, the running child is halted.

    ```yaml
    selector:
      - condition: "turn > 9"
      - set: {hint: "'There is time.'"}
    ```
    """

    passes_on = FAILURE
    stock = composites.Selector
