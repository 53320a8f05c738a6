"""Runs a few nodes in a tree of their own, with the real parts around them and a scripted model."""

import textwrap
from collections.abc import Iterable
from typing import Any

from bt_runtime.record.status import Status
from oracle.testing import ScriptedTurn
from tests.acceptance.harness import CODE_QUESTION, Answered, answers, harness

TREE = """\
tree: sample
blackboard:
  max_turns: {{type: int, default: 9}}
  text: {{type: str, default: ''}}
root:
  finally:
    child:
      sequence:
        - classify_query
        - compose_prompt
{nodes}
    then: {{sequence: [explain_stop, finish]}}
"""


def tree_of(nodes: str) -> str:
    """A tree file with these items of a sequence in it, after the question was classified and the prompt composed."""
    return TREE.format(nodes=textwrap.indent(textwrap.dedent(nodes).strip("\n"), " " * 8))


async def run_nodes(
    nodes: str, turns: Iterable[ScriptedTurn] = (), *, question: str = CODE_QUESTION, **options: Any
) -> Answered:
    """Run these nodes once for a question; `options` are those of the harness, `limits` are the query's."""
    limits, decide = options.pop("limits", {}), options.pop("decide", None)
    async with harness(turns or [answers()], wire=False, **options) as it:
        it.write_tree("sample", tree_of(nodes))
        return await it.ask(question, tree="sample", limits=limits, decide=decide)


def statuses(answered: Answered, kind: str) -> list[Status]:
    """How the nodes of a kind answered, change by change."""
    paths = answered.recording.paths
    return [
        status
        for record in answered.recording
        for index, status in record.changes
        if paths[index].rpartition("/")[2].partition("#")[0] == kind and status is not Status.INVALID
    ]


def written(answered: Answered, key: str) -> list[Any]:
    """The values that a blackboard key was given, in order."""
    return [value for record in answered.recording for name, value in record.writes if name == key]


def errors(answered: Answered) -> list[str]:
    """What nodes raised."""
    return [f"{error.path}: {error.error}" for record in answered.recording for error in record.errors]
