"""The `sequence` kind."""

from py_trees import composites

from bt_runtime.kinds.in_order import InOrder, InOrderSettings
from bt_runtime.language.kind import Facts
from bt_runtime.nodes.registration import CHILDREN, node
from bt_runtime.record.status import SUCCESS


@node(
    "sequence",
    category="composite",
    settings=InOrderSettings,
    slots=CHILDREN,
    shorthand="children",
    facts=Facts(keeps=("_next",)),
)
class Sequence(InOrder):
    """Ticks its children in order, as long as they succeed.

    SUCCESS when the last child has succeeded; FAILURE as soon as one fails; RUNNING while one is running.
    With `memory: false` the children before the running one are ticked again at every tick, and when one of them
    fails, the running child is halted; so only conditions and guards are allowed there.

    ```yaml
    sequence:
      - condition: "turn > 3"
      - set: {hint: "'Be brief.'"}
    ```
    """

    passes_on = SUCCESS
    stock = composites.Sequence
