"""The example of the page for developers of node kinds runs."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "internals" / "nodes.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
async def test_the_examples_of_the_page_run(number):
    names: dict = {}
    assert "assert " in EXAMPLES[number], "an example shows what it leads to"
    exec(EXAMPLES[number], names)
    await names["example"]()


def test_the_page_has_an_example_of_an_action():
    assert len(EXAMPLES) == 1
