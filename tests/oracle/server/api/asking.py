"""Trees that ask people, for tests of the service."""

from pathlib import Path

_TREE = """\
tree: {name}
blackboard:
  branch: {{ type: str, default: "" }}
root:
  finally:
    child:
      sequence:
{nodes}
    then: {{ sequence: [explain_stop, finish] }}
"""
QUESTION = """\
        - classify_query
        - compose_prompt
        - ask_user: { question: "Which branch?", options: [main, release], into: branch, expires: null }
        - say: "It is {branch}."
        - stop: completed
"""
APPROVAL = """\
        - classify_query
        - compose_prompt
        - offer_tools: [vault_write]
        - llm_turn
        - run_tools: { approve: [vault_write], expires: null }
        - llm_turn
        - stop: completed
"""


def write_trees(folder: Path) -> None:
    """Write the trees `question` and `approval` to a folder."""
    for name, nodes in (("question", QUESTION), ("approval", APPROVAL)):
        (folder / f"{name}.yaml").write_text(_TREE.format(name=name, nodes=nodes.rstrip("\n")))
