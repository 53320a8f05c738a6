"""Editing: what the language server computes after one change of a large tree, over reading its YAML alone.

The tree has 400 nodes: composites five levels deep, with expressions, messages and subtrees. A check is everything from
the text to the mistakes that an editor shows, with the warnings; the changed text is broken in one place, as while
typing.

Aims: under 100 ms a change for everything, so that mistakes come while the next key is pressed; no more than 60 of them
for a check.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.parts import least_ms
from bt_runtime import TreeLibrary
from bt_runtime.analysis.files import check_text
from bt_runtime.text.yaml_reader import read_yaml
from oracle.agent.nodes import REGISTRY
from oracle.features.editing.completion import complete
from oracle.features.editing.describing import hover
from oracle.features.editing.desk import Desk
from oracle.features.editing.diagnosing import diagnose
from oracle.features.editing.symbols import references
from trees import FOLDER

AIM_MS = 100.0
AIMS_MS = {"check": 60.0, "check with a mistake": 60.0}
NODES = 400
ROUNDS = 7
_BLOCK = """\
            - sequence:
                name: part_{number}
                children:
                  - condition: turn > {number} and signal in ["stuck", "need_turn"] and count < len(question)
                  - set: {{ count: count + 1, hint: "'Part ' + question" }}
                  - notify: {{ topic: stuck, message: "Part {{count}} of {{turn}}." }}
                  - retry: {{ attempts: 3, child: {{ condition: turn_left }} }}
                  - llm_turn: {{ hint: Go on. }}
                  - force_success: {{ subtree: part }}
"""
_PER_BLOCK = 10
_HEAD = """\
tree: large
blackboard:
  count: { type: int, default: 0 }
root:
  loop:
    until: termination_reason
    guards: [cancelled, turn_budget, token_budget, deadline]
    child:
      selector:
        children:
"""


def large_tree() -> str:
    """A tree of some 400 nodes."""
    return _HEAD + "".join(_BLOCK.format(number=number) for number in range(NODES // _PER_BLOCK))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "part.yaml").write_text("tree: part\nroot: { condition: turn_left }\n")
        desk = Desk(TreeLibrary([folder, FOLDER], registry=REGISTRY))
        file, text = folder / "large.yaml", large_tree()
        wrong = text.replace("turn > 7 ", "turns > 7 ")
        line = text[: text.index("turn > 39")].count("\n") + 1
        column = text.split("\n")[line - 1].index("turn > 39") + 3
        at = {"line": line, "column": column}
        report = check_text(desk.library, file, text)
        tree = report.files[0].tree
        nodes = len(tree.nodes()) if tree is not None else 0
        print(f"one change of a tree of {nodes} nodes, {len(text):,} characters (aim: {AIM_MS:.0f} ms)")
        floor_ms = least_ms(lambda: read_yaml(text, file=str(file)), rounds=ROUNDS)
        works: dict[str, Callable[[], object]] = {
            "its YAML alone": lambda: read_yaml(text, file=str(file)),
            "check": lambda: diagnose(desk, text, file),
            "check with a mistake": lambda: diagnose(desk, wrong, file),
            "completion": lambda: complete(desk, text, file, **at),
            "hover": lambda: hover(desk, text, file, **at),
            "all uses of a key": lambda: references(desk, text, file, **at),
        }
        for kind, work in works.items():
            took_ms = least_ms(work, rounds=ROUNDS)
            aim = f"   (aim: at most {AIMS_MS[kind]:.0f} ms)" if kind in AIMS_MS else ""
            print(f"  {kind:<24}{took_ms:7.1f} ms {took_ms / floor_ms:5.1f}{aim}")


if __name__ == "__main__":
    main()
