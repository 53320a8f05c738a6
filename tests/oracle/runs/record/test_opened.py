"""What a run began with comes back from its log as it was written."""

from dataclasses import replace

from oracle.classify import QueryClassification
from oracle.runs.record.events import KnownTool, Opened
from oracle.runs.repeating import stand_in
from oracle.tools import ToolRegistry, tool
from oracle.tools.selection import all_reading


def office(city: str) -> str:
    """Find an office."""
    return city


OFFICE = tool(group="offices", when_to_use="For offices.", query_types=["research"], examples=["Where do I sit?"])(
    office
)
PLAIN = tool(group="code", when_to_use="For code.")(office)


def test_a_run_began_with_what_its_log_says():
    previous = QueryClassification.of("research", confidence=0.5, second_type="code", sources=["code", "vault"])
    opened = Opened(1.5, previous, True, (KnownTool.of(OFFICE), KnownTool.of(PLAIN)))
    assert Opened.from_json(opened.to_json()) == opened


def test_a_tool_that_its_group_does_not_place_is_kept_with_its_types_and_words():
    known = KnownTool.of(OFFICE)
    assert known.query_types == ("research",)
    assert known.words == "office Find an office. For offices. Where do I sit?"


def test_a_tool_that_the_control_alone_offers_is_no_reading_tool_where_the_run_is_repeated():
    known = KnownTool.of(replace(PLAIN, on_demand=True))
    assert KnownTool.from_list(known.to_list()) == known
    again = ToolRegistry([stand_in(KnownTool.of(PLAIN)), replace(stand_in(known), name="recall")])
    assert all_reading(again) == ("office",)
