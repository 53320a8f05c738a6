"""Labels of tools as their authors say them."""

import pytest

from oracle.tools import ToolDefinitionError, tool
from oracle.tools.labels import shown_labels


def made(labels=None):
    async def look() -> str:
        return ""

    return tool(group="code", name="look", description="Look.", when_to_use="Now.", labels=labels)(look)


@pytest.mark.parametrize(
    ("labels", "flows", "shown"),
    [
        (None, ("private", "untrusted", "outward"), "not labelled: counts as private, untrusted and outward"),
        ({}, (), "reads and writes nothing of these"),
        ({"reads": "private"}, ("private",), "reads private"),
        ({"reads": ["trusted", "private"], "writes": "outward"}, ("private", "outward"),
         "reads private, trusted; writes outward"),
    ],
)  # fmt: skip
def test_an_author_says_what_a_tool_reads_and_where_it_writes(labels, flows, shown):
    assert (made(labels).flows, shown_labels(made(labels))) == (flows, shown)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"reads": ["private", "public"]}, "'private' and 'public' contradict each other; keep one of them"),
        ({"writes": "outwards"}, "'outwards' is no label of what a tool writes; did you mean 'outward'?"),
        ({"sends": "outward"}, "labels have no 'sends'; there are: reads, writes"),
    ],
)
def test_labels_that_cannot_be_are_a_definition_error(labels, message):
    with pytest.raises(ToolDefinitionError) as caught:
        made(labels)
    assert str(caught.value) == f"labels of the tool 'look': {message}"
