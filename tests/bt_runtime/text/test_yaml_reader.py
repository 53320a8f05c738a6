from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_runtime.text import format_mistakes
from bt_runtime.text.yaml_reader import LARGEST_FILE_BYTES, Document, read_yaml


def read(text) -> Document:
    return read_yaml(text, file="f.yaml")


def reported(text):
    """`line:column: message` of each mistake."""
    return [f"{m.place.line}:{m.place.column}: {m.message}" for m in read(text).mistakes]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only a comment\n", None),
        ("on", "on"),
        ("NO", "NO"),
        ("yes", "yes"),
        ("12:30:00", "12:30:00"),
        ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"),
        ("0o17", 15),
        ("017", 17),
        ("0x1F", 31),
        ("-7", -7),
        ("+7", 7),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        ("1e", "1e"),
        (".", "."),
        ("-", [None]),
        ("~", None),
        ("null", None),
        ("True", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("|\n  1\n", "1\n"),
        ("[1, [a, {b: c}]]", [1, ["a", {"b": "c"}]]),
        ("{on: 1, no: 2}", {"on": 1, "no": 2}),
        ("&a [1, 2]", [1, 2]),
        ("{a: &x {b: 1}, c: *x}", {"a": {"b": 1}, "c": {"b": 1}}),
        ("\ufeffa: 1", {"a": 1}),
        ("%YAML 1.2\n---\na: 1\n...\n", {"a": 1}),
        (b"a: \xc3\xa9", {"a": "é"}),
        ("a: 1\r\nb: 2\r\n", {"a": 1, "b": 2}),
    ],
)
def test_scalars_follow_the_core_schema_of_yaml_1_2(text, value):
    document = read(text)

    assert document.mistakes == ()
    assert document.root.plain() == value
    assert type(document.root.plain()) is type(value)


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        pytest.param("a: 1\nb: 2\na: 3\na: 4", [
            "3:1: duplicate key 'a', first on line 1",
            "4:1: duplicate key 'a', first on line 1",
        ], id="duplicate keys"),
        pytest.param("1: a\ntrue: b\n~: c\n[x]: d", [
            "1:1: a key must be text, not 1",
            "2:1: a key must be text, not true",
            "3:1: a key must be text, not null",
            "4:1: a key must be text, not a list or mapping",
        ], id="keys that are no text"),
        pytest.param("a: &x {b: 1}\nc:\n  <<: *x", ["3:3: merge keys '<<' are not part of YAML 1.2"], id="merge key"),
        pytest.param("a: &x [*x]", ["1:8: the alias '*x' contains itself"], id="self-reference"),
        pytest.param("a: *x", ["1:4: the alias '*x' is not defined above"], id="unknown alias"),
        pytest.param("a: !!python/name:os.system x", [
            "1:4: the tag 'tag:yaml.org,2002:python/name:os.system' cannot be used"], id="python tag"),
        pytest.param("a: !x 1\nb: !!str 2", [
            "1:4: the tag '!x' cannot be used", "2:4: the tag 'tag:yaml.org,2002:str' cannot be used"], id="tags"),
        pytest.param("a: 1\n---\nb: 1", ["2:1: a second document begins here"], id="two documents"),
        pytest.param("a:\n  b: 1\n  c d\n  # why\n  e:\n    - 1", [
            "3:3: this is not valid YAML: could not find expected ':' while scanning a simple key"],
            id="key without a colon"),
        pytest.param("a:\n\tb: 1", ["2:1: a tab cannot indent YAML"], id="tab"),
        pytest.param("a:\n  - b\n  -\tc: 1", ["3:4: a tab cannot indent YAML"], id="tab after a dash"),
        pytest.param("a: 1\nb: \x00", ["2:4: the character U+0000 is not allowed in a text file"], id="NUL"),
        pytest.param("é: \x1b\x07", [
            "1:4: the character U+001B is not allowed in a text file",
            "1:5: the character U+0007 is not allowed in a text file"], id="control characters"),
        pytest.param(b"a: 1\nb: \xff", ["2:4: the byte 0xFF is not UTF-8"], id="not UTF-8"),
        pytest.param("a".encode("utf-16"), ["1:1: the file is UTF-16, not UTF-8"], id="UTF-16"),
        pytest.param("a: .inf\nb: -.INF\nc: .nan\nd: 1e999", [
            "1:4: '.inf': only finite numbers can be used",
            "2:4: '-.INF': only finite numbers can be used",
            "3:4: '.nan': only finite numbers can be used",
            "4:4: '1e999': the number is too large"], id="numbers that are not finite"),
        pytest.param("a: 9223372036854775808", ["1:4: '9223372036854775808': the number is too large for 64 bits"],
                     id="number beyond 64 bits"),
        pytest.param("a: b: c", ["1:5: this is not valid YAML: mapping values are not allowed in this context"],
                     id="syntax"),
        pytest.param("a: [1,\n", [
            "1:6: this is not valid YAML: did not find expected node content while parsing a flow node"],
            id="unclosed bracket"),
        pytest.param("a: 'x\n", [
            "1:4: this is not valid YAML: found unexpected end of stream while scanning a quoted scalar"],
            id="unclosed quote"),
    ],
)  # fmt: skip
def test_mistakes_are_reported_at_their_place(text, mistakes):
    assert reported(text) == mistakes


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 500_000, id="brackets"),
        pytest.param("- " * 400_000, id="dashes"),
        pytest.param("? " * 400_000, id="complex keys"),
        pytest.param("{a: " * 200_000, id="mappings"),
        pytest.param("\n".join(" " * i + f"a{i}:" for i in range(1000)), id="indentation"),
    ],
)
def test_nesting_is_bounded(text):
    assert [mistake.split(": ")[1] for mistake in reported(text)] == ["the file is nested more than 100 levels deep"]


def test_nesting_that_aliases_make_is_bounded():
    text = "a: &a [" + "[" * 60 + "]" * 60 + "]\nb: &b [" + "[" * 60 + "*a" + "]" * 60 + "]"

    assert "nested more than 100" in reported(text)[0]


def test_an_alias_bomb_is_refused_before_it_explodes():
    text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    text += "".join(f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n" for old, new in pairwise("abcdefghi"))

    assert reported(text) == ["5:8: the file has more than 20,000 values"]


def test_values_are_bounded():
    assert reported("[" + "a," * 30_000 + "]") == ["1:40000: the file has more than 20,000 values"]


def test_size_is_checked_before_parsing():
    assert reported("a" * (LARGEST_FILE_BYTES + 1)) == ["1:1: the file is larger than 1,000,000 bytes"]


def test_columns_count_characters():
    document = read("名前: 'é'\nb: [x, \"y\"]")
    name, second = document.root.data.values()

    assert (name.place.column, name.node.place.column, name.node.quoted) == (1, 5, True)
    assert [(item.place.line, item.place.column) for item in second.node.data] == [(2, 5), (2, 8)]


@given(st.one_of(st.text(), st.binary(), st.text(alphabet="a:-[]{}&*!|>'\"%@`#?,\n \t~<1")))
def test_any_text_gives_a_value_or_mistakes(text):
    document = read_yaml(text, file="f")

    assert (document.root is None) <= bool(document.mistakes)
    format_mistakes(document.mistakes, {"f": document.text})
