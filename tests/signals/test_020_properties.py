"""Properties of any input: chunking makes no difference, no text is lost, memory is bounded, nothing raises."""

# ruff: noqa: N802 - requirements are cited as the specification writes them

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import signals
from signals.stream import FENCE_HOLD_CHARS
from signals.values import storable
from signals.visible import GAP_CHARS
from tests.signals import nasty, reference
from tests.support.shares import some

NASTY = st.lists(st.sampled_from(nasty.FRAGMENTS), max_size=20).map("".join)
ANY = st.one_of(st.text(), st.text(st.characters()), st.text(alphabet="<>signal type='\"=/`~\n\r "), NASTY)
SOAK_INPUTS = 100_000


def read(pieces):
    stream = signals.SignalStream()
    shown = "".join([stream.feed(piece) for piece in pieces])
    parsed = stream.close()
    assert shown + parsed.remainder == parsed.text
    return parsed


def assert_same(one, other):
    assert one.text == other.text
    assert one.warnings == other.warnings
    assert [r.raw_xml for r in one.readings] == [r.raw_xml for r in other.readings]


@given(ANY, st.randoms(use_true_random=False))
def test_020_FR_002_any_chunking_gives_the_same_text_and_signal(text, rng):
    whole = signals.parse(text)
    assert_same(whole, read(nasty.split(text, rng)))
    assert_same(whole, read(text))


@given(ANY)
def test_the_visible_text_and_the_blocks_are_those_of_the_reference(text):
    check_against_reference(text)


@given(ANY)
def test_text_without_a_bracket_is_returned_unchanged(text):
    text = text.replace("<", "")
    assert signals.parse(text).text == text


@given(ANY)
def test_the_visible_text_is_a_part_of_the_response_in_its_order(text):
    rest = iter(text)
    assert all(character in rest for character in signals.parse(text).text)


@given(st.text(alphabet="abc .,\n-#*\r"), st.text(alphabet="abc .,\n"))
def test_020_FR_005_a_signal_outside_code_is_never_shown(before, after):
    xml = '<signal type="need_turn"><reason>r</reason><confidence>1</confidence></signal>'
    for block in (xml, xml.replace("need_turn", "zzz"), xml.replace("<reason>r</reason>", "")):
        parsed = signals.parse(before + block + after)
        assert "signal" not in parsed.text
        assert parsed.text.split() == (before + after).split() or (after.strip() and before)
        assert (parsed.signal is None) == (block is not xml)
        assert signals.parse(parsed.text).text == parsed.text


@pytest.mark.parametrize("unit", ["x", "<reason>", "</sig", "<![CDATA[</signal>]]>", "'", " ", "\n", "`"])
@pytest.mark.parametrize(
    "prefix",
    [
        "A <signal type='stuck'>",
        "```\n<signal type='stuck'>",
        "```\n<signal type='need_turn' reason='r'/>\n```\n",
        "```\n",
        "` <signal type='stuck'>",
        "A\n",
    ],
)
def test_memory_is_bounded_while_megabytes_come_in(prefix, unit):
    stream = signals.SignalStream()
    stream.feed(prefix)
    delta, most = unit * (1000 // len(unit)), 0
    for _ in range(1000):
        stream.feed(delta)
        most = max(most, stream.held_chars)
    assert most <= FENCE_HOLD_CHARS + GAP_CHARS + len(delta)


def test_a_delta_of_megabytes_is_read_in_one_piece():
    text = "words `code` a < b\n" * 100_000
    assert signals.parse(text).text == text


def check_against_reference(text):
    parsed = signals.parse(text)
    visible, blocks = reference.read(text)
    assert parsed.text == visible
    assert [reading.raw_xml for reading in parsed.readings] == [storable(block) for block in blocks]
    assert (parsed.signal is None) == (not any(reading.signal for reading in parsed.readings))


def assert_fuzz_agrees(seed, count):
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        text = nasty.response(rng)
        check_against_reference(text)
        assert_same(signals.parse(text), read(nasty.split(text, rng)))


def test_nasty_responses_are_read_as_the_reference_reads_them():
    assert_fuzz_agrees("short", len(some(range(500))))


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
def test_a_hundred_thousand_nasty_responses_are_read_as_the_reference_reads_them(part):
    assert_fuzz_agrees(f"soak {part}", SOAK_INPUTS // 10)


class CountingStream(signals.SignalStream):
    looks = 0

    def _advance(self):
        self.looks += 1
        super()._advance()


def test_a_held_signal_is_parsed_again_only_when_it_may_have_ended():
    stream = CountingStream()
    for character in "<signal type='stuck'>" + "x" * 4000:
        stream.feed(character)
    assert stream.looks < 30


def test_any_chunking_gives_the_same_where_windows_end(monkeypatch):
    """The bounds are made small, so that short responses run into all of them."""
    monkeypatch.setattr(signals.markup, "WINDOW_CHARS", 60)
    monkeypatch.setattr(signals.stream, "WINDOW_CHARS", 60)
    monkeypatch.setattr(signals.fenced, "WINDOW_CHARS", 60)
    monkeypatch.setattr(signals.stream, "FENCE_HOLD_CHARS", 100)
    monkeypatch.setattr(signals.visible, "GAP_CHARS", 3)
    for number in some(range(500)):
        rng = random.Random(f"windows/{number}")
        text = nasty.response(rng) + nasty.response(rng)
        assert_same(signals.parse(text), read(nasty.split(text, rng)))
        assert_same(signals.parse(text), read(text))
