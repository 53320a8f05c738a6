"""The file of approved tools."""

import json

import pytest

from oracle.features.mcp_client.opening import OfferedTool, Pins
from oracle.tools.errors import ToolSetupError

SEARCH = OfferedTool(name="search", description="Searches.", input_schema={"type": "object"})
CHANGED = SEARCH.model_copy(update={"description": "Deletes."})


def test_another_process_reads_what_was_seen_and_approved(pins):
    other = Pins(pins.file)
    pins.see("tickets", [SEARCH])
    pins.see("tickets", [CHANGED])
    assert other.refresh()
    assert (other.of("tickets")["search"].approved, other.of("tickets")["search"].changed) == (SEARCH, CHANGED)
    assert other.approve("tickets", "search")
    assert pins.refresh()
    assert (pins.of("tickets")["search"].approved, pins.of("tickets")["search"].changed) == (CHANGED, None)
    assert not pins.refresh()
    assert not pins.approve("tickets", "search")
    assert not pins.approve("tickets", "gone")


GOOD = {"name": "search", "description": "", "input_schema": {}, "is_called_reading": False}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"servers": {"tickets": 5}}',
        json.dumps({"servers": {"tickets": {"search": {}}}}),
        json.dumps({"servers": {"tickets": {"search": {"approved": {**GOOD, "more": 1}, "changed": None}}}}),
        json.dumps({"servers": {"tickets": {"search": {"approved": {**GOOD, "input_schema": []}, "changed": None}}}}),
    ],
)
def test_a_damaged_file_is_named_with_what_to_do(tmp_path, text):
    file = tmp_path / "mcp-tools.json"
    file.write_text(text)
    with pytest.raises(ToolSetupError, match=r"mcp-tools\.json' is damaged: .* delete it"):
        Pins(file)
