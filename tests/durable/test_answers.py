"""The provider double knows its answers, and reads conversations as the provider does.

Any part and its exact rest are one answer, and a wrong part is found. A note of the control stands behind a message of
the user's.
"""

import pytest

from tests.durable.answers import GO_ON, WrongPartError, answer, read, rest
from tests.durable.clients import question
from tests.durable.double import Double

_ASKED = {"role": "user", "content": question("tools", "k1")}
_GO_ON = {"role": "user", "content": [{"type": "text", "text": f"Your last response was cut off. Go on {GO_ON}."}]}
_NOTE = {"role": "system", "content": [{"type": "text", "text": "Answer from what was found."}]}


def _said(text: str) -> dict[str, object]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def test_any_part_and_its_rest_are_the_whole_answer() -> None:
    whole = answer(read([_ASKED]), pieces=5)
    for end in range(1, len(whole.text) + 1):
        reading = read([_ASKED, _said(whole.text[:end]), _GO_ON])
        assert (reading.digest, reading.turn) == (read([_ASKED]).digest, 1)
        left = rest(answer(reading, pieces=5), reading.said)
        assert whole.text[:end] + left.text == whole.text
        assert left.calls == whole.calls


def test_a_turn_in_three_parts_counts_as_one() -> None:
    whole = answer(read([_ASKED]), pieces=5)
    call = whole.calls[0]
    use = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "read"}]}
    in_one = [_ASKED, {"role": "assistant", "content": [{"type": "text", "text": whole.text}, use]}, result]
    last = {"role": "assistant", "content": [{"type": "text", "text": whole.text[9:]}, use]}
    in_parts = [_ASKED, _said(whole.text[:4]), _GO_ON, _said(whole.text[4:9]), _GO_ON, last, result]
    assert read(in_parts) == read(in_one)
    assert read(in_one).turn == 2
    assert read(in_one).earlier == (read([_ASKED]).digest,)


def test_a_part_that_was_never_said_is_a_mistake() -> None:
    reading = read([_ASKED, _said("something else"), _GO_ON])
    with pytest.raises(WrongPartError, match="something else"):
        rest(answer(reading, pieces=5), reading.said)


def test_a_writing_call_of_unknown_outcome_does_not_change_the_digest() -> None:
    key = "abc_0"
    use = {"type": "tool_use", "id": "call_1", "name": "note_plain", "input": {"key": key}}
    known = {"type": "tool_result", "tool_use_id": "call_1", "content": f"Written as {key}."}
    unknown = {"type": "tool_result", "tool_use_id": "call_1", "content": "Nobody knows.", "is_error": True}
    called = [_ASKED, {"role": "assistant", "content": [use]}]
    readings = [read([*called, {"role": "user", "content": [each]}]) for each in (known, unknown)]
    assert readings[0].digest == readings[1].digest
    assert [reading.unknown for reading in readings] == [(), (key,)]


def test_a_conversation_may_end_with_a_note_of_the_control() -> None:
    double = Double(pieces=5)
    reading, said = double.reply({"messages": [_ASKED, _NOTE]})
    assert (reading.tag, said.calls[0].name, double.wrong) == ("k1", "shelf_read", [])
    go_on = {**_GO_ON, "role": "system"}
    asked_on = [_ASKED, _NOTE, _said(said.text[:9]), {"role": "user", "content": "Continue."}, go_on]
    again, left = double.reply({"messages": asked_on})
    assert (again.digest, said.text[:9] + left.text) == (reading.digest, said.text)


def test_a_conversation_that_ends_with_the_model_is_refused() -> None:
    double = Double(pieces=5)
    with pytest.raises(ValueError, match="must end with a user message"):
        double.reply({"messages": [_ASKED, _said("k1")]})
    assert len(double.wrong) == 1


def test_a_note_behind_a_message_of_the_model_is_refused() -> None:
    with pytest.raises(ValueError, match="must follow a user message"):
        read([_ASKED, _said("k1"), _NOTE, _GO_ON])
