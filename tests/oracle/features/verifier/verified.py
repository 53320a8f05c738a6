"""Verifies trees that are written in a test."""

import textwrap
from functools import lru_cache

from structlog.testing import capture_logs

from bt_runtime import TreeDefinition, TreeLibrary
from bt_runtime.library.named import read_tree
from oracle.agent.nodes import REGISTRY
from oracle.features.verifier.exploring import Bounds
from oracle.features.verifier.verify import Report, Scope, verify
from trees import FOLDER

GUARDED = """
tree: sample
blackboard:
  max_turns: {{ type: int, default: {max_turns} }}
{more}
root:
  finally:
    child:
      sequence:
        - classify_query
        - compose_prompt
        - loop:
            until: termination_reason
            guards: [cancelled, turn_budget, token_budget, deadline]
            child:
{child}
    then: {{ sequence: [explain_stop, finish] }}
"""
"""A tree around the child of its loop."""
PLAIN_TREE = """
tree: sample
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn
{nodes}
"""
"""Turns and stops are to be added."""
RULED = """
tree: sample
blackboard:
  max_turns: { type: int, default: 3 }
rules:
  - name: write_once
    text: A note is written at most once.
    at_most: { tool: vault_write, times: 1 }
    ENFORCE
root:
  sequence:
    - classify_query
    - compose_prompt
    - loop:
        until: termination_reason
        guards: [cancelled, turn_budget, token_budget, deadline]
        child:
          sequence:
            - llm_turn
            - selector:
                - sequence: [{ condition: tool_calls > 0 }, run_tools]
                - stop: completed
"""
"""ENFORCE is a field of the rule, or nothing."""


def tree_of(text: str) -> TreeDefinition:
    """A tree file, checked."""
    return read_tree(text, file="sample.yaml", registry=REGISTRY)


def guarded(child: str, more: str = "", *, max_turns: int = 3) -> TreeDefinition:
    """A tree with guards around these nodes."""
    indented = textwrap.indent(textwrap.dedent(child).strip(), " " * 14)
    return tree_of(GUARDED.format(child=indented, more=more, max_turns=max_turns))


@lru_cache(maxsize=1)
def shipped() -> TreeDefinition:
    """The tree that ships."""
    return TreeLibrary([FOLDER], registry=REGISTRY).load("oracle")


def verified(tree: TreeDefinition | str, *, turns: int = 2, states: int = 5_000, seconds: float = 60) -> Report:
    """Verify a tree with small bounds."""
    definition = tree_of(tree) if isinstance(tree, str) else tree
    with capture_logs():  # no test configures logging, and structlog's own default prints every traceback
        return verify(definition, Scope(turns=turns, bounds=Bounds(states=states, seconds=seconds)))
