"""What a model echoes of the form of its conversation does not reach the user, whatever the chunking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import signals
from signals import ParsedResponse, SignalStream

NOTE = "<control_note>\nThis is the last turn that the limits allow.\n</control_note>"
CALL = '<tool_call>\n{"name": "search_code", "arguments": {"query": "retry"}}\n</tool_call>'
SIGNAL = '<signal type="need_turn"><reason>more</reason></signal>'

LEAKS = {
    "a note": (f"Before.\n\n{NOTE}\n\nAfter.", "Before.\n\n\n\nAfter.", ""),
    "a note at the end": (f"Before.\n\n{NOTE}\n", "Before.", ""),
    "an open note ends with its paragraph": ("<control_note>\nLast turn.\n\nAfter.", "\n\nAfter.", ""),
    "an open note that begins with a blank line": (
        "So.\n<control_note>\n\nLast turn.\n\nAfter.",
        "So.\n\n\nAfter.",
        "",
    ),
    "an open note at the end": ("Before.\n<control_note>\nLast turn.", "Before.", ""),
    "an end alone": ("Before.</control_note> After.", "Before. After.", ""),
    "markers": ("<|im_start|>assistant\nYes.<|im_end|>", "\nYes.", ""),
    "other markers": ("Yes.<end_of_turn><\uff5cend\uff5c><|eot_id|>", "Yes.", ""),
    "a word that looks like a role": ("<|im_start|>users know", "users know", ""),
    "thinking": ("<think>\nHm, 3 < 4.\n</think>\n\nYes.", "Yes.", "\nHm, 3 < 4.\n"),
    "thinking without an end": ("<think>Hm. <signal", "", "Hm. <signal"),
    "a signal in thinking": (f"<think>{SIGNAL}</think>Yes.", "Yes.", SIGNAL),
    "an end of thinking alone": ("Hm.</think>Yes.", "Hm.Yes.", ""),
    "thinking in a sentence": ("Models write <think> first.", "Models write  first.", ""),
    "a call": (f"I search.\n{CALL}", "I search.", ""),
    "a call without an end": ('I search. <tool_call>{"name": "x"}', "I search. ", ""),
    "the word alone": ("The tag <tool_call> begins it.", "The tag  begins it.", ""),
    "in a code span": (f"Write `{NOTE.splitlines()[0]}` and `<think>`.", "Write `<control_note>` and `<think>`.", ""),
    "in a fence": (f"```xml\n{CALL}\n<think>\n```\nSo.", f"```xml\n{CALL}\n<think>\n```\nSo.", ""),
    "other tags": ("<thinking> <tool> <controls> a<|b", "<thinking> <tool> <controls> a<|b", ""),
    "a comparison": ("if a <| b then c", "if a <| b then c", ""),
}


def read(text: str, cuts: list[int]) -> tuple[ParsedResponse, str, str]:
    stream, places = SignalStream(), sorted(cut % (len(text) + 1) for cut in cuts)
    shown = "".join(stream.feed(text[a:b]) for a, b in zip([0, *places], [*places, len(text)], strict=True))
    parsed = stream.close()
    return parsed, shown + parsed.remainder, "".join(stream.thoughts)


@pytest.mark.parametrize(("text", "visible", "thought"), LEAKS.values(), ids=LEAKS)
def test_a_leak_is_dropped_and_code_is_not_whole_or_letter_by_letter(text: str, visible: str, thought: str) -> None:
    for cuts in ([], list(range(len(text)))):
        parsed, shown, thoughts = read(text, cuts)
        assert (shown, thoughts) == (visible, thought)
        assert parsed.text == shown


@given(
    parts=st.lists(
        st.sampled_from(
            [NOTE, CALL, SIGNAL, "<think>", "</think>", "\n", "Yes. ", "`", "```\n", "<|im_end|>", "<tool_call>", "<"]
        ),
        max_size=8,
    ),
    cuts=st.lists(st.integers(0, 3_000), max_size=30),
)
def test_any_chunking_has_the_same_text_thinking_calls_and_signal(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    (parsed, shown, thought), whole = read(text, cuts), read(text, [])
    assert (shown, thought) == whole[1:]
    assert parsed.written_calls == whole[0].written_calls
    assert [each.raw_xml for each in parsed.readings] == [each.raw_xml for each in whole[0].readings]


def test_calls_that_are_written_as_text_are_reported() -> None:
    assert signals.parse(f"I search.\n{CALL}").written_calls == (CALL,)
    assert signals.parse(f"```\n{CALL}\n```\nThat is how.").written_calls == ()


def test_the_beginning_of_a_leak_at_the_end_of_a_response_that_was_cut_off_is_not_shown() -> None:
    stream = SignalStream()
    assert stream.feed("Yes. <control_no") == "Yes. "
    assert stream.close(cut_off=True).text == "Yes. "
