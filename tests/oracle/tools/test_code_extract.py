"""What is shown around a hit: whole units, bounded, for text of any shape."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.tools.code_extract import MAX_LINES, MAX_LINES_BEFORE, extract_range, passing_mentions

CODE = '''"""The module.

It says much.
"""

from a import (
    b,
)

LIMITS = {
    "one": 1,
    "two": 2,
}


@decorated
def first(x):
    """Does it.

    Args:
        x: a number.
    """
    y = x
    return y


def second():
    pass
'''
PROSE = """# Title

First paragraph
goes on.

## Part

Lead of the part.

- one thing
  that is long
- another

| a | b |
|---|---|
| 1 | 2 |
| 3 | 4 |
"""


FENCED = """\
The lead of an example:

```yaml
one: 1
two: 2
```

A paragraph with
a second line, and
a third line, and
a fourth line, and
a fifth line, and
a sixth line, and
a seventh line:

````text
{rows}
````

After it.
"""


def shown(text, needle, path):
    lines = text.split("\n")
    hit = next(number for number, line in enumerate(lines) if needle in line)
    start, end = extract_range(lines, hit, path=path)
    return lines[start:end]


@pytest.mark.parametrize(
    ("needle", "first", "last"),
    [
        pytest.param("def first", "@decorated", "    return y", id="a definition with its decorator and body"),
        pytest.param("x: a number", "@decorated", "    return y", id="a documentation string with its definition"),
        pytest.param("y = x", "@decorated", "    return y", id="a statement with its definition"),
        pytest.param('"two"', "LIMITS = {", "}", id="a line within brackets with its statement"),
        pytest.param("It says much", '"""The module.', '"""', id="the module's own words without its imports"),
    ],
)
def test_a_hit_in_code_is_shown_with_its_definition(needle, first, last):
    lines = shown(CODE, needle, "a.py")
    assert (lines[0], lines[-1]) == (first, last)


@pytest.mark.parametrize(
    ("needle", "first"),
    [
        pytest.param("goes on", "# Title", id="the first paragraph with its heading"),
        pytest.param("that is long", "- one thing", id="a list item from its beginning"),
        pytest.param("## Part", "## Part", id="a heading"),
    ],
)
def test_a_hit_in_prose_begins_with_its_paragraph(needle, first):
    assert shown(PROSE, needle, "a.md")[0] == first


@pytest.mark.parametrize("path", ["a.md", "a.py"])
@pytest.mark.parametrize("rows", [5, 40])
@pytest.mark.parametrize("needle", ["lead", "two: 2", "```yaml", "second", "seventh", "row 1.", "row 4.", "After"])
def test_a_fenced_block_is_shown_whole_or_from_within(needle, rows, path):
    fenced = FENCED.format(rows="\n".join(f"row {number}." for number in range(rows)))
    lines = shown(fenced, needle, path)
    fences = [line for line in lines if line.startswith("```")]
    assert any(needle in line for line in lines)
    assert fences in ([], ["```yaml", "```"], ["````text", "````"], ["```yaml", "```", "````text", "````"])
    if needle == "two: 2" or (needle == "row 4." and rows == 5):
        assert fences


def test_of_data_only_the_record_is_shown():
    assert shown('{"a": 1}\n{"b": 2}\n{"c": 3}\n', '"b"', "a.jsonl") == ['{"b": 2}']


def test_imports_and_export_lists_are_passing_mentions():
    assert passing_mentions(CODE.split("\n")) == {5, 6, 7}


@given(
    st.lists(
        st.text(alphabet="ab \"'()[]{}#|-@:\t", max_size=12) | st.sampled_from(["```", "```a", "~~~"]),
        min_size=1,
        max_size=60,
    ),
    st.data(),
)
def test_any_hit_lies_in_a_bounded_extract(lines, data):
    hit = data.draw(st.integers(0, len(lines) - 1))
    for path in ("a.py", "a.md", "a.json", "a"):
        start, end = extract_range(lines, hit, path=path)
        assert 0 <= start <= hit < end <= len(lines)
        assert hit - start <= MAX_LINES_BEFORE
        assert end - start <= MAX_LINES
