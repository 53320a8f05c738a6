"""Visible text and signals: each row is read whole, character by character, and in random pieces."""

# ruff: noqa: N802 - requirements are cited as the specification writes them

import random
from datetime import UTC, datetime

import pytest

import signals
from signals.markup import WINDOW_CHARS
from tests.signals.nasty import split

NEED = '<signal type="need_turn"><reason>why</reason><confidence>0.8</confidence></signal>'
STUCK = "<signal type='stuck'><attempted>a</attempted><blocker>b</blocker><confidence>0.4</confidence></signal>"
NOON = datetime(2026, 1, 8, 12, tzinfo=UTC)
Y = "y" * 6000

# id: (response, visible text, type of the signal or None, number of malformed blocks)
TABLE = {
    # FR-001, FR-005: at the end, with the blank lines around it
    "at the end": (f"Hello.\n\n{NEED}", "Hello.", "need_turn", 0),
    "at the end with line breaks after": (f"Hello.\n\n{NEED}\n\n", "Hello.", "need_turn", 0),
    "at the end with CRLF": (f"Hello.\r\n\r\n{NEED}\r\n", "Hello.", "need_turn", 0),
    "at the end of the last line": (f"Hello. {NEED}", "Hello. ", "need_turn", 0),
    "alone": (NEED, "", "need_turn", 0),
    "alone between blank lines": (f"\n\n{NEED}\n", "", "need_turn", 0),
    "in the middle nothing but the block goes": (f"A\n\n{NEED}\n\nB\n", "A\n\n\n\nB\n", "need_turn", 0),
    "at the start": (f"{NEED}\nB", "\nB", "need_turn", 0),
    "no signal keeps its white space": ("\n A \n\n ", "\n A \n\n ", None, 0),
    "spread over lines": (
        "A\n<signal type='need_turn'>\n  <reason>\n why \n</reason>\n</signal>\n",
        "A",
        "need_turn",
        0,
    ),
    "end tag with white space": ("A<signal type='need_turn'><reason>r</reason></signal \n>B", "AB", "need_turn", 0),
    "fields as attributes": ("A <signal type='need_turn' reason='r'/> B", "A  B", "need_turn", 0),
    "type after other attributes": ('A <signal confidence="1" type = "need_turn" reason="r"/>', "A ", "need_turn", 0),
    "type without quotes": ("A <signal type=need_turn reason='r'/>", "A ", "need_turn", 0),
    # several
    "multiple signals: the first counts": (f"A {NEED} B {STUCK}", "A  B ", "need_turn", 0),
    "the first well-formed one counts": (f"A <signal type='x'></signal> B {STUCK}", "A  B ", "stuck", 1),
    "signals with blank lines between": (f"A\n\n{NEED}\n\n{STUCK}\n", "A", "need_turn", 0),
    # malformed
    "unknown type": ("A <signal type='zzz'><reason>r</reason></signal> B", "A  B", None, 1),
    "empty type": ("A <signal type=''></signal> B", "A  B", None, 1),
    "missing required field": ("A <signal type='need_turn'></signal> B", "A  B", None, 1),
    "unclosed to the end": ("A <signal type='need_turn'><reason>r</reason>", "A ", None, 1),
    "unclosed start tag": ("A <signal type='need_turn'", "A ", None, 1),
    "cut off after type=": ("A <signal type=", "A ", None, 1),
    "unclosed for 4,096 characters": (
        "A <signal type='stuck'>" + Y,
        "A " + Y[WINDOW_CHARS - len("<signal type='stuck'>") :],
        None,
        1,
    ),
    "long attribute": (
        f"A <signal type='stuck' a='{Y}'>B",
        "A " + f"{Y}'>B"[WINDOW_CHARS - len("<signal type='stuck' a='") :],
        None,
        1,
    ),
    "quote of the type not closed": ("A <signal type='need_turn><reason>it's</reason></signal> B", "A  B", None, 1),
    "unclosed before another one": (f"A <signal type='stuck'><blocker>b\n\n{NEED}\nB", "A \nB", "need_turn", 1),
    "one in another": (f"A <signal type='stuck'>{NEED}</signal> B", "A  B", "need_turn", 1),
    "another one's start in a field": (
        "A <signal type='need_turn'><reason>a <signal type='x'> tag</reason></signal> B",
        "A  B",
        "need_turn",
        0,
    ),
    # what does not end a block
    "end tag in CDATA": (
        "A <signal type='need_turn'><reason><![CDATA[</signal>]]></reason></signal> B",
        "A  B",
        "need_turn",
        0,
    ),
    "end tag in an attribute": ('A <signal type="need_turn" reason="</signal>"></signal> B', "A  B", "need_turn", 0),
    "end tag in a field's attribute": (
        "A <signal type='need_turn'><reason a='</signal>'>r</reason></signal> B",
        "A  B",
        "need_turn",
        0,
    ),
    "CDATA that is not closed": ("A <signal type='need_turn'><reason><![CDATA[</signal> B", "A  B", None, 1),
    "comparison in a field": ("<signal type='need_turn'><reason>a < b && c</reason></signal>", "", "need_turn", 0),
    # decision 16: what is no signal
    **{
        f"text: {text}": (f"A {text} B", f"A {text} B", None, 0)
        for text in (
            "<signal.h>",
            "<signals>",
            "<signals type='x'>",
            "std::signal<int>",
            "<signal>",
            "<signal to noise>",
            "</signal>",
            "<signal/>",
            "<signal foo='type='>",
            "<signal type>",
            "< signal type='x'>",
            "<Signal type='x'>",
            "a < b",
            "<sig<sig",
            "<signal x='y",
            "&lt;signal type='x'>",
        )
    },
    "text: the start of one at the end": ("A <signal ty", "A <signal ty", None, 0),
    "text: a bracket at the end": ("A <", "A <", None, 0),
    # decision 16: examples
    "in a fence": (f"A\n```xml\n{NEED}\n```\nB", f"A\n```xml\n{NEED}\n```\nB", None, 0),
    "in a tilde fence": (f"~~~ x`y\n{NEED}\n~~~~ \nB", f"~~~ x`y\n{NEED}\n~~~~ \nB", None, 0),
    "in a fence, CRLF": (f"```\r\n{NEED}\r\n```\r\nB", f"```\r\n{NEED}\r\n```\r\nB", None, 0),
    "in an indented fence": (f"   ```\n{NEED}\n  ```\nB", f"   ```\n{NEED}\n  ```\nB", None, 0),
    "a shorter fence closes nothing": (f"````\n```\n{NEED}\n```\n\n````", f"````\n```\n{NEED}\n```\n\n````", None, 0),
    "an info string closes nothing": (f"```\n{NEED}\n\n``` x\n", "```\n\n\n``` x\n", "need_turn", 0),
    "after a fence": (f"```\ncode\n```\n{NEED}", "```\ncode\n```", "need_turn", 0),
    "in and after a fence": (f"```\n{NEED}\n```\n{STUCK}", f"```\n{NEED}\n```", "stuck", 0),
    # decision 16: a fence at the end that holds nothing but one signal is that signal
    "alone in the last fence": (f"Hello.\n\n```xml\n{NEED}\n```", "Hello.", "need_turn", 0),
    "alone in the only fence": (f"```\n{NEED}\n```", "", "need_turn", 0),
    "alone in the last fence, CRLF": (f"A\r\n\r\n```xml\r\n{NEED}\r\n```\r\n\r\n", "A", "need_turn", 0),
    "alone in the last fence, between blank lines": (f"A\n\n~~~~\n\n  {NEED}\n\n~~~~~ \n \n", "A", "need_turn", 0),
    "alone in the last fence, indented": (f"A\n  ```\n  {NEED}\n  ```\n", "A", "need_turn", 0),
    "alone in a last fence that never closes": (f"A\n\n```xml\n{NEED}\n", "A", "need_turn", 0),
    "alone in the last fence, after an open backtick": (f"A ` B\n```\n{NEED}\n```", "A ` B", "need_turn", 0),
    "alone in the last fence, after another signal": (f"{STUCK}\n```\n{NEED}\n```", "", "stuck", 0),
    "alone in the last two fences": (
        f"```\n{STUCK}\n```\n```\n{NEED}\n```",
        f"```\n{STUCK}\n```",
        "need_turn",
        0,
    ),
    "in the last fence with words before": (f"```\nx {NEED}\n```", f"```\nx {NEED}\n```", None, 0),
    "in the last fence with words after": (f"```\n{NEED}\nx\n```\n", f"```\n{NEED}\nx\n```\n", None, 0),
    "two in the last fence": (f"```\n{NEED}\n{STUCK}\n```\n", f"```\n{NEED}\n{STUCK}\n```\n", None, 0),
    "a template in the last fence": (
        '```\n<signal type="TYPE"></signal>\n```',
        '```\n<signal type="TYPE"></signal>\n```',
        None,
        0,
    ),
    "unclosed in the last fence": (
        "```\n<signal type='stuck'>\n```\n",
        "```\n<signal type='stuck'>\n```\n",
        None,
        0,
    ),
    "a fence whose first line is too long to have content": (
        f"~~~<signal type='need_turn' reason='{Y[:600]}'/>",
        "~~~",
        "need_turn",
        0,
    ),
    "its end in what looks like the last line": (f"```\n{NEED[:-9]}\n```</signal>", "", "need_turn", 0),
    # names in capitals
    "in capitals": (
        "A\n<SIGNAL TYPE='need_turn'><REASON>r</REASON><CONFIDENCE>1</CONFIDENCE></SIGNAL>\n",
        "A",
        "need_turn",
        0,
    ),
    "in capitals with another end tag": ("A <SIGNAL type='need_turn' reason='r'></signal>", "A ", "need_turn", 0),
    "in capitals alone in the last fence": (
        "A\n```XML\n<SIGNAL TYPE='need_turn' REASON='r'/>\n```\n",
        "A",
        "need_turn",
        0,
    ),
    "text: a component's name": (
        "A <Signal type='need_turn'></Signal>",
        "A <Signal type='need_turn'></Signal>",
        None,
        0,
    ),
    "in a fence that never closes": (f"```xml\ncode\n{NEED}\n", "```xml\ncode", "need_turn", 0),
    "in a code span": (f"Say `{NEED}` so", f"Say `{NEED}` so", None, 0),
    "in a double code span": (f"Say `` ` {NEED} ` `` so", f"Say `` ` {NEED} ` `` so", None, 0),
    "in a code span over two lines": (f"Say `\n{NEED}` so", f"Say `\n{NEED}` so", None, 0),
    "start tag in a code span": ("The `<signal type='stuck'>` tag.", "The `<signal type='stuck'>` tag.", None, 0),
    "both tags in code spans": (
        "From `<signal type='stuck'>` with `<blocker>` to `</signal>`.",
        "From `<signal type='stuck'>` with `<blocker>` to `</signal>`.",
        None,
        0,
    ),
    "after a code span": (f"Say `x` {NEED}", "Say `x` ", "need_turn", 0),
    "after a lone backtick": (f"A ` lone one {NEED} B", "A ` lone one  B", "need_turn", 0),
    "after a lone backtick in another paragraph": (f"A ` B\n\n{NEED}\n` C", "A ` B\n\n\n` C", "need_turn", 0),
    "after a lone backtick in another item": (f"- A ` B\n- {NEED} ` C", "- A ` B\n-  ` C", "need_turn", 0),
    "after a lone backtick, backticks of its own": (
        "A ` B\n<signal type='need_turn'><reason>read `x`</reason></signal>",
        "A ` B",
        "need_turn",
        0,
    ),
    "a backtick of another length closes nothing": (f"A ` B {NEED} `` C", "A ` B  `` C", "need_turn", 0),
    "a span in what looked like a span": (f"A `` B `{NEED}` C", f"A `` B `{NEED}` C", None, 0),
    # other
    "nothing": ("", "", None, 0),
    "odd characters": (f"\x00e\u0301\ud800 {NEED}\U0001f600", "\x00e\u0301\ud800 \U0001f600", "need_turn", 0),
}
ROWS = pytest.mark.parametrize(("response", "visible", "kind", "malformed"), TABLE.values(), ids=TABLE.keys())


def read(pieces):
    stream = signals.SignalStream(now=lambda: NOON)
    shown = "".join([stream.feed(piece) for piece in pieces])
    parsed = stream.close()
    assert shown + parsed.remainder == parsed.text
    return parsed


def check(parsed, visible, kind, malformed):
    assert parsed.text == visible
    assert (parsed.signal.type if parsed.signal else None) == kind
    assert len(parsed.malformed) == malformed


@ROWS
def test_020_FR_005_read_whole(response, visible, kind, malformed):
    check(signals.parse(response), visible, kind, malformed)


@ROWS
def test_020_FR_002_read_character_by_character(response, visible, kind, malformed):
    parsed = read(response)
    check(parsed, visible, kind, malformed)
    assert parsed == read([response])


@ROWS
def test_020_FR_002_read_in_random_pieces(response, visible, kind, malformed):
    for seed in range(10):
        check(read(split(response, random.Random(seed))), visible, kind, malformed)


@ROWS
def test_text_after_it_is_not_lost(response, visible, kind, malformed):
    if not malformed:  # an unclosed one takes what follows with it
        assert signals.parse(response + "\n\nfin").text.endswith("fin")


def test_020_a_warning_quotes_each_further_signal():
    parsed = signals.parse(f"A {NEED} B {STUCK}")
    assert any("further signal stuck ignored" in warning and repr(STUCK) in warning for warning in parsed.warnings)
    assert [signal.type for signal in parsed.ignored] == ["stuck"]


def test_020_a_warning_quotes_each_malformed_signal():
    raw = "<signal type='need_turn'><confidence>1</confidence></signal>"
    parsed = signals.parse(f"A {raw}")
    assert parsed.malformed == (raw,)
    assert parsed.warnings == (f"malformed signal, field 'reason' is missing: {raw!r}",)


def test_020_FR_002_a_signal_is_known_as_soon_as_it_is_complete():
    stream = signals.SignalStream(now=lambda: NOON)
    stream.feed(f"A {NEED[:-1]}")
    assert stream.signal is None
    stream.feed(">")
    assert stream.signal.raw_xml == NEED
    assert stream.signal.timestamp == NOON


@pytest.mark.parametrize(
    ("deltas", "shown"),
    [
        pytest.param(["Hello", " you"], ["Hello", " you"], id="plain text at once"),
        pytest.param(["Hello ", "you"], ["Hello ", "you"], id="a blank after a word at once"),
        pytest.param(["Hello\n", "you"], ["Hello", "\nyou"], id="a line break with the next word"),
        pytest.param(["a <", " b"], ["a ", "< b"], id="a bracket with the next character"),
        pytest.param(["a <b>", "c"], ["a <b>", "c"], id="a tag that is no signal at once"),
        pytest.param(["<signals", ">"], ["<signals", ">"], id="as soon as it is no signal"),
        pytest.param(["a ` b", " c"], ["a ` b", " c"], id="after a lone backtick at once"),
        pytest.param(
            ["`<signal type='x'>", "` b"], ["`", "<signal type='x'>` b"], id="an example when its span closes"
        ),
        pytest.param(
            ["```\ncode\n", "<signal type='x'>\n", "```", "\n", "b"],
            ["```\ncode", "", "", "\n<signal type='x'>\n```", "\nb"],
            id="an example when its fence closes",
        ),
        pytest.param(["```py\nx = 1", "\ny = 2"], ["```py\nx = 1", "\ny = 2"], id="code at once"),
        pytest.param(["```\nx = 1", " < y"], ["```\nx = 1", " < y"], id="a bracket in code at once"),
        pytest.param(
            ["```\nx = 1", " `y", "` ~"], ["```\nx = 1", " `y", "` ~"], id="marks inside a line of code at once"
        ),
        pytest.param(
            [f"```\n{NEED}\n```\n", f"b {STUCK} c"],
            ["", f"```\n{NEED}\n```\nb  c"],
            id="a fence with a signal when a word follows",
        ),
        pytest.param(["a `b", "\nc", " d\n- e"], ["a `b", "\nc", " d\n- e"], id="lines after a lone backtick at once"),
        pytest.param(["a `b", " c\n", "d"], ["a `b", " c", "\nd"], id="a line break after a lone backtick with a word"),
        pytest.param(["a\n\n", NEED, "\n", "b"], ["a", "", "", "\n\n\nb"], id="blank lines when a word follows"),
    ],
)
def test_text_is_shown_as_early_as_it_safely_can_be(deltas, shown):
    stream = signals.SignalStream()
    assert [stream.feed(delta) for delta in deltas] == shown


def test_a_closed_stream_raises_when_used():
    stream = signals.SignalStream()
    stream.feed("A word")
    stream.close()
    with pytest.raises(signals.SignalError, match=r"feed\(\) after close\(\)"):
        stream.feed("x")
    with pytest.raises(signals.SignalError, match=r"close\(\) after close\(\)"):
        stream.close()


def test_the_blank_lines_held_for_a_signal_are_those_that_are_dropped():
    white = "\n" * 5000
    assert signals.parse(f"A{white}{NEED}").text == "A" + "\n" * (5000 - 4096)
    assert signals.parse(f"A{white}").text == f"A{white}"


@pytest.mark.parametrize("after_chars", [16_000, 17_000, 40_000])
def test_an_example_in_an_endless_fence_is_shown_after_the_hold_and_a_late_signal_still_counts(after_chars):
    parsed = read(split(f"```\n{STUCK}\n" + "x\n" * (after_chars // 2) + NEED, random.Random(1)))
    assert parsed.signal.type == ("stuck" if after_chars < 16_384 else "need_turn")
    assert (STUCK in parsed.text) == (after_chars >= 16_384)
    assert NEED not in parsed.text


CUT = "An answer, `<signal` and all.\n\n<SIGNAL  confidence='0.9' type='need_turn'><reason>r</reason></SIGNAL>"
CUT_AT = CUT.index("\n\n")


@pytest.mark.parametrize("size", [1, 3, 1_000])
@pytest.mark.parametrize("end", range(CUT_AT, len(CUT)))
def test_of_a_response_that_was_cut_off_no_part_of_a_signal_is_shown(end, size):
    stream = signals.SignalStream(now=lambda: NOON)
    text = CUT[:end]
    shown = "".join(stream.feed(text[at : at + size]) for at in range(0, end, size))
    parsed = stream.close(cut_off=True)
    assert shown + parsed.remainder == parsed.text
    assert parsed.text.removesuffix("<").rstrip("\n") == CUT[:CUT_AT]
    assert parsed.signal is None


@pytest.mark.parametrize(
    "text", ["a <", "a <b", "a <sig>", "a <signal.h>", "std::signal<int", "if a <s and", "`<sig", "```\n<x"]
)
def test_of_a_response_that_was_cut_off_nothing_else_is_lost(text):
    stream = signals.SignalStream(now=lambda: NOON)
    stream.feed(text)
    assert stream.close(cut_off=True).text == (text if text != "`<sig" else "`")


def test_the_beginning_of_a_signal_at_the_end_of_a_whole_response_is_text():
    assert signals.parse("The tag is called <signal").text == "The tag is called <signal"
