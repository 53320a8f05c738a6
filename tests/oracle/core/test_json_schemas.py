"""Values against JSON schemas."""

import pytest

from oracle.core.json_schemas import Misfit, is_deeper, misfits

NOTE = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def nest(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def test_each_mistake_has_its_place() -> None:
    assert misfits(NOTE, {"path": "a.md"}) == []
    assert misfits(NOTE, {"path": 1}) == [Misfit(("path",), '1 is not of type "string"')]
    assert misfits({"type": "array", "items": NOTE}, [{"path": "a"}, {}]) == [
        Misfit((1,), '"path" is a required property')
    ]


def test_of_a_great_number_of_mistakes_some_are_told() -> None:
    assert len(misfits({"type": "array", "items": {"type": "string"}}, list(range(5_000)))) == 20


@pytest.mark.parametrize(
    ("schema", "value", "problem"),
    [
        ({"type": "nonsense"}, 1, "no JSON schema"),
        ({"$ref": "http://127.0.0.1:9/schema"}, 1, "its own parts alone"),
        ({"$ref": "file:///etc/passwd"}, 1, "its own parts alone"),
        ({"items": {"$ref": "#"}}, nest(900), "more than 64 levels"),
    ],
    ids=["of no type", "elsewhere", "a file", "too deep"],
)
def test_what_cannot_be_checked_is_said(schema: dict[str, object], value: object, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        misfits(schema, value)


def test_a_pattern_cannot_take_for_ever() -> None:
    assert misfits({"pattern": "^(a+)+$"}, "a" * 5_000 + "b")


def test_levels_are_those_of_arrays_and_objects() -> None:
    assert misfits({"items": {"$ref": "#"}}, nest(64)) == []
    assert is_deeper({"a": [{}]}, 2)
    assert not is_deeper({"a": [{}]}, 3)
    assert not is_deeper("[[[[", 0)
