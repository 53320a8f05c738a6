"""What of a message goes back to the provider."""

import pytest

from oracle.llm.blocks import can_go_on, without_loose_end

THOUGHT = {"type": "thinking", "thinking": "Hm", "signature": "s"}
HIDDEN = {"type": "redacted_thinking", "data": "x"}
TEXT = {"type": "text", "text": "Well."}
CALL = {"type": "tool_use", "id": "t1", "name": "search_code", "input": {}}
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}


@pytest.mark.parametrize(
    ("blocks", "kept"),
    [
        pytest.param([THOUGHT, TEXT], [THOUGHT, TEXT], id="whole"),
        pytest.param([THOUGHT], [], id="thinking-alone"),
        pytest.param([THOUGHT, CALL, THOUGHT, HIDDEN], [THOUGHT, CALL], id="thinking-after-a-call"),
        pytest.param([THOUGHT, SEARCH, FOUND, TEXT], [THOUGHT, SEARCH, FOUND, TEXT], id="searched"),
        pytest.param([TEXT, SEARCH], [TEXT], id="search-without-result"),
        pytest.param([THOUGHT, SEARCH], [], id="nothing-left"),
        pytest.param([SEARCH, CALL], [SEARCH, CALL], id="result-is-owed-beside-a-call"),
    ],
)
def test_a_message_is_cut_to_an_accepted_end(blocks, kept):
    assert without_loose_end(blocks) == tuple(kept)
    assert without_loose_end(kept) == tuple(kept)


def test_a_search_may_lack_its_result_in_a_message_that_continues():
    assert without_loose_end([THOUGHT, SEARCH, THOUGHT], goes_on=True) == (THOUGHT, SEARCH)


def test_a_paused_message_can_continue_only_after_a_search_of_the_provider():
    assert can_go_on([])
    assert can_go_on([TEXT, SEARCH])
    assert can_go_on([FOUND])
    assert not can_go_on([TEXT])
