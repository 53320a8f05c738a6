import json
import re

import pytest

from bt_runtime.drawing.schema import tree_schema
from bt_runtime.language.errors import TreeFileError
from bt_runtime.library.named import read_tree
from bt_runtime.text.yaml_reader import read_yaml
from tests.bt_runtime.sample_kinds import KINDS, ORACLE, REGISTRY

SCHEMA = tree_schema(REGISTRY)
TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "number": (int, float),
    "integer": int,
}  # fmt: skip
LENGTHS = {
    "minLength": lambda value, n: not isinstance(value, str) or len(value) >= n,
    "maxLength": lambda value, n: not isinstance(value, str) or len(value) <= n,
    "minItems": lambda value, n: not isinstance(value, list) or len(value) >= n,
    "maxItems": lambda value, n: not isinstance(value, list) or len(value) <= n,
    "minProperties": lambda value, n: not isinstance(value, dict) or len(value) >= n,
    "minimum": lambda value, n: not isinstance(value, int | float) or value >= n,
    "maximum": lambda value, n: not isinstance(value, int | float) or value <= n,
    "exclusiveMinimum": lambda value, n: not isinstance(value, int | float) or value > n,
    "exclusiveMaximum": lambda value, n: not isinstance(value, int | float) or value < n,
    "pattern": lambda value, pattern: not isinstance(value, str) or re.search(pattern, value),
    "enum": lambda value, values: value in values,
    "const": lambda value, constant: value == constant,
}
NOTES = {"description", "default", "title", "$schema", "$defs"}


def is_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def accepts(schema, value):
    """The part of JSON Schema that the schema uses; an unknown keyword is an error."""
    for keyword, wanted in schema.items():
        if keyword in NOTES:
            continue
        if not keyword_accepts(keyword, wanted, schema, value):
            return False
    return True


def keyword_accepts(keyword, wanted, schema, value):
    if keyword == "$ref":
        return accepts(SCHEMA["$defs"][wanted.removeprefix("#/$defs/")], value)
    if keyword == "anyOf":
        return any(accepts(each, value) for each in wanted)
    if keyword == "oneOf":
        return sum(accepts(each, value) for each in wanted) == 1
    if keyword == "type":
        return any(is_type(value, name) for name in ([wanted] if isinstance(wanted, str) else wanted))
    if keyword == "items":
        return not isinstance(value, list) or all(accepts(wanted, item) for item in value)
    if keyword in {"properties", "required", "additionalProperties", "propertyNames"}:
        return not isinstance(value, dict) or object_accepts(keyword, wanted, schema, value)
    return LENGTHS[keyword](value, wanted)


def object_accepts(keyword, wanted, schema, value):
    if keyword == "properties":
        return all(accepts(wanted[name], item) for name, item in value.items() if name in wanted)
    if keyword == "required":
        return all(name in value for name in wanted)
    if keyword == "propertyNames":
        return all(accepts(wanted, name) for name in value)
    others = [item for name, item in value.items() if name not in schema.get("properties", {})]
    return (
        not others if wanted is False else all(accepts(wanted, item) for item in others) if wanted is not True else True
    )


def valid(text):
    return accepts(SCHEMA, read_yaml(text, file="t").root.plain())


def tree(root, head=""):
    return f"tree: t\n{head}\nroot: {root}\n"


RIGHT = [
    "finish",
    "{finish: }",
    "{finish: {}}",
    "{finish: {name: x}}",
    "{condition: turn > 1}",
    "{condition: {when: turn > 1, name: x}}",
    "{inverter: finish}",
    "{inverter: {condition: turn > 1}}",
    "{inverter: {child: {condition: turn > 1}}}",
    "{loop: {condition: turn > 1}}",
    "{loop: {child: finish, guards: }}",
    "{set: {hint: turn, sources: 3}}",
    "{set: {values: {hint: turn}}}",
    "{sequence: [finish, {sequence: [finish]}]}",
    "{sequence: {memory: false, children: [finish]}}",
    "{parallel: {success: one, children: [finish]}}",
    "{parallel: {success: 1, children: [finish]}}",
    "{llm_turn: {timeout_s: 3, model: null, tools: [a], header: {title: abc, level: 2}, effort: low}}",
]
WRONG = [
    "finnish",
    "{finnish: }",
    "{finish: 3}",
    "{finish: {x: 1}}",
    "condition",
    "{condition: 3}",
    "{condition: {wen: turn > 1}}",
    "{inverter: finnish}",
    "{inverter: }",
    "{sequence: []}",
    "{sequence: [finish, finnish]}",
    "{sequence: {childs: [finish]}}",
    "{parallel: {success: some, children: [finish]}}",
    "{llm_turn: {timeout: 3}}",
    "{llm_turn: {timeout_s: 0}}",
    "{llm_turn: {timeout_s: soon}}",
    "{llm_turn: {tools: [1]}}",
    "{llm_turn: {header: {titel: abc}}}",
    "{llm_turn: {effort: hgh}}",
    "{finish: , notify: x}",
    "{}",
    "[finish]",
    "3",
]


def test_the_schema_accepts_a_whole_tree():
    assert valid(ORACLE)


@pytest.mark.parametrize("root", RIGHT)
def test_the_schema_accepts_what_the_reader_accepts(root):
    read_tree(tree(root), file="t", registry=REGISTRY)

    assert valid(tree(root))


@pytest.mark.parametrize("root", WRONG)
def test_a_typing_slip_is_refused_by_both(root):
    with pytest.raises(TreeFileError):
        read_tree(tree(root), file="t", registry=REGISTRY)

    assert not valid(tree(root))


@pytest.mark.parametrize(
    "root",
    [
        "{llm_turn: {timeout_s: '${x}', stream: '${x}', effort: '${x}', tools: '${x}', header: '${x}'}}",
        "{llm_turn: {tools: ['${x}'], header: {title: '${x}', level: '${x}'}}}",
        "{retry: {attempts: '${x}', child: finish}}",
        "{set: {hint: '${x}'}}",
        "{subtree: {tree: other, with: {a: '${x}', b: [1]}}}",
    ],
)
def test_a_parameter_is_allowed_in_any_setting(root):
    assert valid(tree(root))


@pytest.mark.parametrize(
    ("head", "right"),
    [
        ("blackboard: {a: int, b: {type: str, default: x, description: y}}", True),
        ("parameters: {a: {type: list}}", True),
        ("description:", True),
        ("blackboard: {a: inte}", False),
        ("blackboard: {a: {default: 3}}", False),
        ("blackboard: {A: int}", False),
        ("descripton: x", False),
    ],
)
def test_the_header_is_checked(head, right):
    assert valid(tree("finish", head)) is right


def test_every_kind_is_described_for_completion():
    texts = json.dumps(SCHEMA)

    for kind in KINDS:
        assert f'"kind.{kind.name}"' in texts
        assert SCHEMA["$defs"][f"kind.{kind.name}"]["description"].startswith(kind.summary)


def test_every_reference_is_defined():
    for target in re.findall(r'"#/\$defs/([^"]+)"', json.dumps(SCHEMA)):
        assert target in SCHEMA["$defs"]
