"""Schemas whose evaluation would have no end are refused before anything evaluates them; others are not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.core.json_schemas import LARGEST_SCHEMA, MOST_STEPS, Steps, checked_schema, misfits, own_patterns, own_steps


def chain(length, keyword="allOf", times=2):
    """Each part leads to the next one, several times."""
    defs = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * times} for n in range(length)}
    return {"type": "object", "$defs": defs | {f"d{length}": {}}, "$ref": "#/$defs/d0"}


def of_two(keyword, **more):
    """A schema that leads to itself twice, one level below."""
    return {"type": "object", "properties": {"a": {keyword: [{"$ref": "#"}, {"$ref": "#"}]}}, **more}


NODE = {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/node"}]}
GOOD = {
    "a list": {"properties": {"next": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}}},
    "a binary tree": {"$defs": {"node": {"properties": {"l": NODE, "r": NODE}}}, "properties": {"root": NODE}},
    "any JSON": {
        "$defs": {
            "json": {
                "anyOf": [
                    {"type": ["string", "number", "boolean", "null"]},
                    {"type": "array", "items": {"$ref": "#/$defs/json"}},
                    {"type": "object", "additionalProperties": {"$ref": "#/$defs/json"}},
                ]
            }
        },
        "properties": {"value": {"$ref": "#/$defs/json"}},
    },
    "a filter": {
        "$defs": {
            "filter": {
                "anyOf": [
                    {"properties": {"and": {"type": "array", "items": {"$ref": "#/$defs/filter"}}}},
                    {"properties": {"or": {"type": "array", "items": {"$ref": "#/$defs/filter"}}}},
                    {"properties": {"not": {"$ref": "#/$defs/filter"}}},
                ]
            }
        },
        "properties": {"where": {"$ref": "#/$defs/filter"}},
    },
    "the same part in many places": {
        "$defs": {"point": {"properties": {"x": {"type": "number"}}}},
        "properties": {f"p{n}": {"$ref": "#/$defs/point"} for n in range(200)},
    },
    "a long enumeration": {"properties": {"a": {"enum": [f"value {n}" for n in range(1_000)]}}},
    "many properties": {"properties": {f"p{n}": {"type": "string"} for n in range(400)}},
    "by names and patterns": {"properties": {"a": {"$ref": "#"}}, "additionalProperties": {"$ref": "#"}},
    "a tuple": {"properties": {"a": {"prefixItems": [{"$ref": "#"}, {"$ref": "#"}], "items": {"$ref": "#"}}}},
    "an older tuple": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"items": [{"$ref": "#"}, {"$ref": "#"}], "additionalItems": {"$ref": "#"}}},
    },
    "an escaped reference": {"$defs": {"a/b~c d": {}}, "properties": {"a": {"$ref": "#/$defs/a~1b~0c%20d"}}},
    "a pattern of a mail address": {
        "properties": {"a": {"pattern": r"^(?!\.)(?!.*\.\.)[\w'+\-.]*@(\w+\.)+[A-Za-z]{2,}$"}}
    },
    "properties with the names of keywords": {
        "properties": {"$ref": {"type": "string"}, "$id": {"type": "string"}, "pattern": {"type": "string"}}
    },
}
TOO_MANY = {
    "a chain that doubles": chain(60),
    "a choice that doubles": chain(60, "anyOf"),
    "one that triples": chain(60, "oneOf", 3),
    "a short one": chain(12),
    "a circle": {"$ref": "#"},
    "a circle of two": {
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}},
        "$ref": "#/$defs/a",
    },
    "itself twice": of_two("allOf"),
    "itself twice in a choice": of_two("anyOf"),
    "itself by a name and by its pattern": {
        "properties": {"a": {"$ref": "#"}},
        "patternProperties": {"a": {"$ref": "#"}},
    },
    "itself twice in a list": {"items": {"oneOf": [{"$ref": "#"}, {"$ref": "#"}]}},
    "itself contained": {"items": {"$ref": "#"}, "contains": {"$ref": "#"}},
    "itself by two conditions": {
        "if": {"properties": {"a": {"$ref": "#"}}},
        "then": {"properties": {"a": {"$ref": "#"}}},
    },
    "an older dependency": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"$ref": "#"}},
        "dependencies": {"a": {"properties": {"a": {"$ref": "#"}}}},
    },
}


@pytest.mark.parametrize("schema", GOOD.values(), ids=list(GOOD))
def test_schemas_that_people_write_are_accepted(schema):
    assert checked_schema({"type": "object", **schema})


@pytest.mark.parametrize("schema", TOO_MANY.values(), ids=list(TOO_MANY))
def test_what_doubles_is_refused_and_its_place_is_named(schema):
    with pytest.raises(ValueError, match=r"its part '#.*' is reached in too many ways: more than 1"):
        checked_schema(schema)
    with pytest.raises(ValueError, match=r"its part '#"):
        misfits(schema, {"a": {"a": 1}})


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"$ref": "#/$defs/none"}, "it refers to '#/\\$defs/none', which it does not have"),
        ({"$ref": "#name"}, "its own parts alone, as '#/\\$defs/name', not to '#name'"),
        ({"$ref": "other.json"}, "its own parts alone"),
        ({"$schema": "http://127.0.0.1:9/schema"}, "no JSON schema of the kind 'http://127.0.0.1:9/schema'"),
        ({"$schema": 7}, "no JSON schema of the kind '7'"),
        ({"properties": {"a": {"$id": "http://example.com/"}}}, "no '\\$id' of their own"),
        ({"properties": {"a": {"$schema": "http://example.com/"}}}, "no '\\$schema' of their own"),
        ({"$defs": {"a": {"$dynamicRef": "#a"}}}, "by '\\$ref', not by '\\$dynamicRef'"),
        ({"$dynamicRef": "#/$defs/a", "$defs": {"a": {}}}, "by '\\$ref', not by '\\$dynamicRef'"),
        ({"$recursiveRef": "#"}, "by '\\$ref', not by '\\$recursiveRef'"),
        ({"properties": {"a": {"pattern": r"\w" * 2_000}}}, "its patterns take 8,002,000 steps to read"),
        ({"properties": {f"a{n}": {"pattern": "a"} for n in range(51)}}, "its patterns take 102,000 steps to read"),
        ({"patternProperties": {"((": {}}}, "no regular expression"),
        ({"description": "x" * LARGEST_SCHEMA}, "at most 16,000 are read"),
    ],
)
def test_what_cannot_be_counted_is_refused(schema, problem):
    with pytest.raises(ValueError, match=problem):
        checked_schema({"type": "object", **schema})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"enum": [f"{n:x}" for n in range(1_500)]}}, ["zz"] * 12_000),
        ({"items": {"required": [f"{n:x}" for n in range(1_000)]}}, [{}] * 5_000),
        ({"pattern": r"^(?:(?=[^x]*y)a|b)*$"}, "a" * 60_000 + "y"),
        ({"items": {"allOf": [{"pattern": f"^(?=a)(a|a)+{n}$"} for n in range(30)]}}, ["a" * 20] * 2_000),
    ],
    ids=["a long enumeration", "many names", "a long text", "many patterns"],
)
def test_a_value_that_is_too_large_for_its_schema_is_not_checked(schema, value):
    with pytest.raises(ValueError, match="it is too large for its schema: "):
        misfits(schema, value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"type": "string", "maxLength": 40}}, ["x" * 36] * 5_000),
        ({"properties": {"text": {"type": "string"}, "path": {"pattern": "^[a-z/.]+$"}}}, {"text": "x " * 15_000}),
        ({"items": {"pattern": "^[0-9a-f-]{36}$"}}, ["0" * 36] * 1_000),
        ({"type": "array", "uniqueItems": True}, [{"n": n} for n in range(9_000)]),
    ],
    ids=["a long list", "a long text", "many ids", "each once"],
)
def test_large_values_of_simple_schemas_are_checked(schema, value):
    assert misfits(schema, value) == []


def test_a_pattern_that_tries_for_ever_is_given_up():
    (found,) = misfits({"pattern": r"^(?=a)(a|a)+\1?$"}, "a" * 200 + "b")
    assert "backtracking" in found.problem


def test_steps_are_counted_along_the_most_expensive_way():
    leaf = {"type": "string"}
    assert Steps(leaf, own_steps).most(5) == 2
    assert Steps({"properties": {"a": leaf, "b": {"allOf": [leaf, leaf]}}}, own_steps).most(1) == 3 + 1 + 4
    assert Steps({"properties": {"a": {"pattern": "a"}, "b": {"pattern": "b"}}}, own_patterns).most(1) == 1
    assert Steps({"items": {"$ref": "#"}}, own_steps).most(10) == 1 + 10 * 2


schemas = st.recursive(
    st.sampled_from([{}, {"type": "string"}, {"$ref": "#"}, {"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}, True]),
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {}, optional={"allOf": st.lists(inner, min_size=1, max_size=3), "not": inner, "if": inner}
        ),
        st.fixed_dictionaries(
            {},
            optional={
                "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
                "additionalProperties": inner,
                "items": inner,
                "anyOf": st.lists(inner, min_size=1, max_size=3),
                "unevaluatedProperties": inner,
            },
        ),
    ),
    max_leaves=12,
)
values = st.recursive(
    st.none() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
)


@settings(max_examples=40)
@given(schemas, schemas, schemas, values)
def test_whatever_the_parts_lead_to_it_is_refused_or_takes_a_bounded_number_of_steps(root, a, b, value):
    schema = {**(root if isinstance(root, dict) else {}), "$defs": {"a": a, "b": b}}
    try:
        accepted = checked_schema(schema)
    except ValueError:
        return
    assert Steps(accepted, own_steps).most(16) <= MOST_STEPS
    misfits(accepted, value)
