"""The six types and their fields (decision 15, 020 FR-003, FR-004, US2-1 to US2-4)."""

# ruff: noqa: N802 - requirements are cited as the specification writes them

import pytest
from pydantic import ValidationError

import signals

BODIES = {
    "need_turn": (
        "<reason>why</reason>",
        {"reason": "why"},
        "<expected_turns>2</expected_turns>",
        {"expected_turns": 2},
    ),
    "context_sufficient": (
        "<sources_found>0</sources_found>",
        {"sources_found": 0},
        "<source_types>code, vault</source_types>",
        {"source_types": ["code", "vault"]},
    ),
    "stuck": (
        '<attempted>["a, b", "c"]</attempted><blocker>wall</blocker>',
        {"attempted": ["a, b", "c"], "blocker": "wall"},
        "<suggestions>x</suggestions>",
        {"suggestions": ["x"]},
    ),
    "need_capability": (
        "<capability>email</capability><reason>asked</reason>",
        {"capability": "email", "reason": "asked"},
        "<workaround>copy</workaround>",
        {"workaround": "copy"},
    ),
    "partial_answer": (
        "<missing>the rest</missing>",
        {"missing": "the rest"},
        "<caveat>old</caveat>",
        {"caveat": "old"},
    ),
    "delegation_recommended": (
        "<reason>big</reason><scope>all files</scope>",
        {"reason": "big", "scope": "all files"},
        "<estimated_tokens>20000</estimated_tokens><subagent_type>researcher</subagent_type>",
        {"estimated_tokens": 20000, "subagent_type": "researcher"},
    ),
}
TYPES = pytest.mark.parametrize("kind", BODIES)


def signal_of(body, *, kind="need_turn", attributes=""):
    return signals.parse(f'<signal type="{kind}"{attributes}>{body}</signal>')


@TYPES
def test_020_FR_003_each_type_is_read_with_all_its_fields(kind):
    required, values, optional, more = BODIES[kind]
    parsed = signal_of(f"<confidence>0.7</confidence>{required}{optional}", kind=kind)
    assert parsed.warnings == ()
    assert type(parsed.signal) is signals.SIGNAL_MODELS[kind]
    assert (parsed.signal.type, parsed.signal.confidence) == (kind, 0.7)
    assert {name: getattr(parsed.signal, name) for name in values | more} == values | more
    assert parsed.signal.timestamp.tzinfo is not None


@TYPES
def test_020_FR_003_each_type_is_read_without_its_optional_fields(kind):
    required, _, _, more = BODIES[kind]
    signal = signal_of(f"<confidence>0.7</confidence>{required}", kind=kind).signal
    assert all(getattr(signal, name) is None for name in more)


@TYPES
def test_each_required_field_is_required(kind):
    required, values, optional, _ = BODIES[kind]
    for name in values:
        start, end = required.index(f"<{name}>"), required.index(f"</{name}>") + len(f"</{name}>")
        parsed = signal_of(required[:start] + required[end:] + optional, kind=kind)
        assert parsed.signal is None
        assert f"field '{name}' is missing" in parsed.warnings[-1]


def test_the_type_is_case_insensitive_and_white_space_around_it_is_ignored():
    assert signals.parse("<signal type=' Need_TURN '><reason>r</reason></signal>").signal.type == "need_turn"


@pytest.mark.parametrize(
    ("given", "value", "warned"),
    [
        ("0", 0.0, False),
        ("1", 1.0, False),
        ("1.0", 1.0, False),
        (" .5 ", 0.5, False),
        ("0.85", 0.85, False),
        ("9e-1", 0.9, False),
        ("85%", 0.85, False),
        ("1.2", 1.0, True),
        ("-3", 0.0, True),
        ("1e400", 1.0, True),
        ("85", 1.0, True),
        ("150%", 1.0, True),
        ("nan", 0.5, True),
        ("inf", 0.5, True),
        ("-Infinity", 0.5, True),
        ("high", 0.5, True),
        ("", 0.5, True),
        ("0,8", 0.5, True),
        ("1_0", 0.5, True),
        ("\u0660", 0.5, True),
        ("9" * 3000, 1.0, True),
        ("0x1", 0.5, True),
        ("\x00", 0.5, True),
    ],
)
@pytest.mark.parametrize("place", ["element", "attribute"])
def test_020_FR_004_confidence_is_read_leniently(given, value, warned, place):
    element = f"<confidence>{given}</confidence>" if place == "element" else ""
    attribute = f" confidence='{given}'" if place == "attribute" else ""
    parsed = signal_of(f"<reason>r</reason>{element}", attributes=attribute)
    assert parsed.signal.confidence == value
    assert bool(parsed.warnings) == warned


def test_020_FR_004_a_missing_confidence_is_one_half_with_a_warning():
    parsed = signal_of("<reason>r</reason>")
    assert parsed.signal.confidence == 0.5
    assert parsed.warnings == ("signal need_turn: no confidence; 0.5 is assumed",)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('["a", "b"]', ["a", "b"]),
        ("a, b", ["a", "b"]),
        (" a ,, b, ", ["a", "b"]),
        ("a", ["a"]),
        ("[]", []),
        ("", []),
        ("[a, b]", ["a", "b"]),
        ("['a', 'b']", ["a", "b"]),
        ('"a", "b"', ["a", "b"]),
        ("\n- a, x\n- b\n", ["a, x", "b"]),
        ("1. a\n2. b", ["a", "b"]),
        ('\n["a"]\n', ["a"]),
        ("<item>a</item>\n<item>b &amp; c</item>", ["a", "b & c"]),
        ("[&quot;a&quot;]", ["a"]),
        ('<![CDATA[["<a>"]]]>', ["<a>"]),
        ('["\\ud800"]', ["\ufffd"]),
        ("[x] failed, y", ["[x] failed", "y"]),
        ('["a", " "]', ["a"]),
    ],
)
def test_lists_are_json_arrays_or_comma_separated_text(text, items):
    assert signal_of(f"<attempted>{text}</attempted><blocker>b</blocker>", kind="stuck").signal.attempted == items


def test_repeated_elements_are_one_list():
    body = "<attempted>a</attempted><attempted>b</attempted><blocker>b</blocker>"
    assert signal_of(body, kind="stuck").signal.attempted == ["a", "b"]


@pytest.mark.parametrize("text", ["[1]", "[null]", '[["a"]]', '["a', '["a", "b"', "[" * 2000 + "]" * 1500])
def test_an_invalid_list_is_dropped_if_optional_and_malformed_if_required(text):
    if text.startswith("[[[["):
        text = "[" * 2000 + "1" + "]" * 2000
    optional = signal_of(
        f"<sources_found>1</sources_found><source_types>{text}</source_types>", kind="context_sufficient"
    )
    required = signal_of(f"<attempted>{text}</attempted><blocker>b</blocker>", kind="stuck")
    if not text.startswith("[[[["):  # nested too deeply for a JSON reader, it is read as text
        assert optional.signal.source_types is None
        assert "field 'source_types' is" in " ".join(optional.warnings)
        assert required.signal is None


@pytest.mark.parametrize(("text", "value"), [("3", 3), (" +3 ", 3), ("3.0", 3), ("1,200", 1200), ("&#51;", 3)])
def test_integers_are_read_leniently(text, value):
    parsed = signal_of(f"<sources_found>{text}</sources_found>", kind="context_sufficient")
    assert parsed.signal.sources_found == value


@pytest.mark.parametrize(
    "text", ["-1", "3.5", "many", "", "1e3", "1_000", "9" * 16, "9" * 3900, "\u0663", "0x3", "1,2"]
)
def test_an_invalid_integer_is_malformed_if_required_and_dropped_if_optional(text):
    required = signal_of(f"<sources_found>{text}</sources_found>", kind="context_sufficient")
    assert required.signal is None
    assert "field 'sources_found' is" in required.warnings[-1]
    optional = signal_of(f"<reason>r</reason><confidence>1</confidence><expected_turns>{text}</expected_turns>")
    assert optional.signal.expected_turns is None
    assert len(optional.warnings) == 1
    assert "field 'expected_turns' is" in optional.warnings[0]


def test_expected_turns_of_zero_is_dropped():
    parsed = signal_of("<reason>r</reason><expected_turns>0</expected_turns>")
    assert parsed.signal.expected_turns is None
    assert any("'expected_turns' is 0" in warning and "dropped" in warning for warning in parsed.warnings)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a &lt; b &amp;&amp; c", "a < b && c"),
        ("a < b && c", "a < b && c"),
        ("&amp;lt;", "&lt;"),
        ("&#65;&#x42;", "AB"),
        ("a&#1;b&#x10FFFF;", "a\x01b\U0010ffff"),
        ("&nbsp;", "&nbsp;"),
        ("&#0;&#xD800;&#x110000;", "&#0;&#xD800;&#x110000;"),
        ("a<![CDATA[<b>&amp;]]>c", "a<b>&amp;c"),
        ("<b>bold</b>", "<b>bold</b>"),
        ("\n  two\n  lines ", "two\n  lines"),
        ("nul\x00", "nul\ufffd"),
        ("lone \ud83d", "lone \ufffd"),
        ("a <signal.h> b", "a <signal.h> b"),
        ("<![CDATA[</reason>]]>", "</reason>"),
        ("<!-- x", "<!-- x"),
        ("x <![CDATA[y", "x <![CDATA[y"),
        ("&" * 500, "&" * 500),
    ],
)
def test_entities_and_cdata_are_decoded_and_nothing_else_is_touched(text, value):
    assert signal_of(f"<reason>{text}</reason>").signal.reason == value


@pytest.mark.parametrize("text", ["", "  ", "\n", "<![CDATA[ ]]>"])
def test_an_empty_required_text_is_malformed(text):
    assert signal_of(f"<reason>{text}</reason>").signal is None


def test_entities_do_not_expand_without_bound():
    text = '<!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><reason>&b;</reason>'
    assert signal_of(text).signal.reason == "&b;"


@pytest.mark.parametrize(
    ("body", "attributes", "reason", "warning"),
    [
        pytest.param(
            "<reason>r</reason><mood>x</mood>", "", "r", "unknown element 'mood' ignored", id="unknown element"
        ),
        pytest.param(
            "<reason>r</reason>", " mood='x'", "r", "unknown attribute 'mood' ignored", id="unknown attribute"
        ),
        pytest.param("<reason>r</reason><reason>s</reason>", "", "r", "'reason' given again", id="given twice"),
        pytest.param(
            "<reason>r</reason>", " reason='s'", "r", "attribute 'reason' ignored", id="element and attribute"
        ),
        pytest.param("so: <reason>r</reason>", "", "r", "text outside of its elements", id="stray text"),
        pytest.param("<REASON>r</REASON>", "", "r", "no confidence", id="upper case"),
        pytest.param("<reason lang='en'>r</reason>", "", "r", "no confidence", id="attribute of an element"),
        pytest.param("<!-- c --><reason>r</reason>", "", "r", "no confidence", id="comment"),
    ],
)
def test_what_is_unknown_is_ignored_with_a_warning(body, attributes, reason, warning):
    parsed = signal_of(body, attributes=attributes)
    assert parsed.signal.reason == reason
    assert any(warning in given for given in parsed.warnings)


def test_signals_are_frozen_and_strict():
    signal = signal_of("<reason>r</reason>").signal
    with pytest.raises(ValidationError):
        signal.reason = "other"
    with pytest.raises(ValidationError):
        signals.NeedTurn(reason="r", confidence="0.5", raw_xml="", timestamp=signal.timestamp)
    assert isinstance(signal, signals.Signal)


def test_a_clock_with_naive_times_raises():
    with pytest.raises(ValidationError, match="timezone"):
        signals.parse(
            "<signal type='need_turn' reason='r'/>", now=lambda: signals.reader.utc_now().replace(tzinfo=None)
        )
