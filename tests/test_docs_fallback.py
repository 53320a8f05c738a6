"""Every example of docs/fallback.md runs, and it names every strategy."""

import re
from pathlib import Path

import pytest

from tests.acceptance.harness import answers, calls, says
from tests.oracle.agent.nodes.running import errors, run_nodes

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "fallback.md").read_text(encoding="utf-8")
FRAGMENTS = re.findall(r"^```yaml\n# a fragment\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("fragment", FRAGMENTS)
async def test_a_fragment_runs(fragment: str) -> None:
    look = says("Looking.", calls("search_code", query="RetryPolicy"))
    answered = await run_nodes(fragment, [look, answers()])
    assert errors(answered) == []
    assert answered.reason == "completed"


def test_it_has_two_examples_of_nodes() -> None:
    assert len(FRAGMENTS) == 2


def test_it_names_every_strategy_of_the_shipped_tree() -> None:
    shipped = re.findall(
        r"try_strategy:\n +name: (\w+)", (ROOT / "trees" / "fallback.yaml").read_text(encoding="utf-8")
    )
    assert re.findall(r"^\| `(\w+)` \| .* \| .* \|$", PAGE, re.MULTILINE) == shipped
