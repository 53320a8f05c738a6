"""docs/event-log.md: its example runs, and its table has all kinds of events and their classes."""

import re
from pathlib import Path
from typing import get_args

from oracle.runs.record.events import LogEvent

PAGE = (Path(__file__).parents[1] / "docs" / "event-log.md").read_text(encoding="utf-8")


def test_the_example_runs() -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    exec(example, {})


def test_each_kind_of_event_is_in_the_table_with_its_class() -> None:
    rows = [line.split("|")[1:3] for line in PAGE.splitlines() if line.startswith("| `")]
    found = [
        pair
        for kinds, classes in rows
        for pair in zip(re.findall(r"`(\w+)`", kinds), re.findall(r"`(\w+)`", classes), strict=True)
    ]
    assert sorted(found) == sorted((each.kind, each.__name__) for each in get_args(LogEvent))
