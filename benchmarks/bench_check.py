"""What a check costs: a tree of 400 nodes, read and judged, as on each change in an editor.

The baseline is the reading of the file alone. The editor has 100 ms a change for everything; the judgment has no more
than 60 of them. Times are of the processor, because the editor's machine is not idle.
"""

import time

import trees
from benchmarks.parts import least_ms
from bt_runtime import TreeDefinition, TreeLibrary
from bt_runtime.analysis.files import warnings_of
from oracle.agent.nodes import REGISTRY

NODES = 400
AIM_MS = 60
ROUNDS = 7
HEAD = """tree: large
root:
  sequence:
    - classify_query
    - compose_prompt
    - loop:
        until: termination_reason
        guards: [cancelled, turn_budget, token_budget, deadline, no_progress, error_limit]
        child:
          sequence:
            - llm_turn
            - selector:
                - subtree: use_tools
                - subtree: continue_answer
"""
BRANCH = """                - sequence:
                    name: branch_{number}
                    children:
                      - condition: sources > {number} and signal == "need_turn"
                      - if: {{ when: same_reason > {number}, then: {{ notify: Still. }} }}
                      - grant_turn
"""
TAIL = "                - subtree: follow_signal\n"


def large_tree() -> str:
    """The text of a tree with about as many nodes, those of its subtrees included."""
    return HEAD + "".join(BRANCH.format(number=number) for number in range(60)) + TAIL


def main() -> None:
    library = TreeLibrary([trees.FOLDER], registry=REGISTRY)
    text = large_tree()
    definition: TreeDefinition = library.read_text(text, file="large.yaml", name="large")
    before = time.process_time()
    warnings_of(definition, registry=REGISTRY)
    first_ms = (time.process_time() - before) * 1000
    reading_ms = least_ms(lambda: library.read_text(text, file="large.yaml", name="large"), rounds=ROUNDS)
    judging_ms = least_ms(lambda: warnings_of(definition, registry=REGISTRY), rounds=ROUNDS)
    print(f"check of a tree with {len(definition.nodes())} nodes, least of {ROUNDS}")
    print(f"  reading it      {reading_ms:7.1f} ms   1.0")
    print(f"  judging it      {judging_ms:7.1f} ms {judging_ms / reading_ms:5.1f}   (aim: at most {AIM_MS} ms)")
    print(f"  the first time  {first_ms:7.1f} ms {first_ms / reading_ms:5.1f}")


if __name__ == "__main__":
    main()
