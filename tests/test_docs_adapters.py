"""docs/adapters.md: its example is the adapter of the tests, and the names of its table exist."""

import re
from pathlib import Path

from oracle.core.features import features
from oracle.runs.storage.seeding import LONGEST_TEXT, MOST_MESSAGES
from oracle.server.api.adapters import adapter_of, adapters_of

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
ADAPTER = (ROOT / "tests" / "oracle" / "server" / "connect" / "base" / "adapter.py").read_text(encoding="utf-8")


def test_the_example_is_the_adapter_of_the_tests():
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 3
    assert [block for block in blocks if block not in ADAPTER] == []


def test_every_file_that_is_named_exists():
    named = re.findall(r"`((?:oracle|tests|connect|benchmarks)/[a-z_/]+\.py)`", PAGE)
    assert len(named) >= 7
    places = [ROOT / (f"oracle/server/{name}" if name.startswith("connect/") else name) for name in named]
    assert [str(place) for place in places if not place.exists()] == []


def test_what_a_conversation_begins_with_is_bounded_as_the_page_says():
    assert f"the newest {MOST_MESSAGES} messages" in PAGE
    assert f"{LONGEST_TEXT:,} characters of each" in PAGE


def test_every_adapter_gets_the_requests_below_its_path():
    adapters = adapters_of(features())
    assert len(adapters) == 4
    for each in adapters:
        assert adapter_of(f"{each.path}/any", adapters) == each
