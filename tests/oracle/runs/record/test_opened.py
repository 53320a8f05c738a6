"""What a run began with comes back from its log as it was written."""

from oracle.classify import QueryClassification
from oracle.core.encoding import from_json
from oracle.runs.record.events import KnownTool, Opened
from oracle.tools import tool


def office(city: str) -> str:
    """Find an office."""
    return city


OFFICE = tool(group="offices", when_to_use="For offices.", query_types=["research"], examples=["Where do I sit?"])(
    office
)
PLAIN = tool(group="code", when_to_use="For code.")(office)


def test_a_run_began_with_what_its_log_says():
    previous = QueryClassification.of("research", confidence=0.5, second_type="code", sources=["code", "vault"])
    opened = Opened(1.5, previous, True, (KnownTool.of(OFFICE), KnownTool.of(PLAIN)), has_requests=True)
    assert Opened.from_json(opened.to_json()) == opened


def test_a_tool_that_its_group_does_not_place_is_kept_with_its_types_and_words():
    known = KnownTool.of(OFFICE)
    assert known.query_types == ("research",)
    assert known.words == "office Find an office. For offices. Where do I sit?"
    assert KnownTool.of(PLAIN).to_list() == ["office", "code", False]


def test_a_log_of_an_earlier_version_without_sources_is_read():
    data = Opened(0.0, QueryClassification.of("code", confidence=1.0), tools=(KnownTool.of(PLAIN),)).to_json()
    assert from_json(data)["previous"] == ["code", 1.0, None, ["code"]]
    found = Opened.from_json(data.replace(b',["code"]]', b"]"))
    assert found.previous == QueryClassification.of("code", confidence=1.0)
