"""Tools that the client runs: what is taken of them."""

from collections.abc import Collection
from typing import Any

import pytest

from oracle.core.json_schemas import LARGEST_SCHEMA
from oracle.tools.client_tools import MOST_TOOLS, ClientTool, ClientToolError, ClientTools, kept_tools
from oracle.tools.foreign import LONGEST_DESCRIPTION

PLACE = ClientTool("get_place", "Where the user is.")
PAINT = ClientTool("paint", "Paints the page.")

NESTED: dict[str, Any] = {}
for _ in range(40):
    NESTED = {"properties": {"a": NESTED}}


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"name": ""}, "is no name of a tool"),
        ({"name": "a b"}, "'a b' is no name of a tool: it has 1 to 64 letters, digits, '_' and '-'"),
        ({"name": "a.b"}, "is no name"),
        ({"name": "é"}, "is no name"),
        ({"name": "x\n"}, "is no name"),
        ({"name": "x" * 65}, "is no name"),
        ({"name": None}, "is no name"),
        ({"name": ["a"]}, "is no name"),
        ({"description": 3}, "the tool 'a': its description is a text of at most 4,000 characters"),
        ({"description": None}, "its description is a text"),
        ({"description": "x" * (LONGEST_DESCRIPTION + 1)}, "its description is a text"),
        ({"input_schema": None}, "its schema is a JSON object"),
        ({"input_schema": []}, "its schema is a JSON object"),
        ({"input_schema": "{}"}, "its schema is a JSON object"),
        ({"input_schema": NESTED}, "a JSON object of at most 16 levels"),
        ({"input_schema": {"description": "x" * LARGEST_SCHEMA}}, "at most 16,000 are read"),
        ({"input_schema": {"default": {1, 2}}}, "its schema is no JSON data"),
        ({"input_schema": {"title": "a\0b"}}, "has a NUL character"),
        ({"input_schema": {"title": "\\\0"}}, "has a NUL character"),
        ({"input_schema": {"type": "string"}}, "is that of an object"),
        ({"input_schema": {"type": ["object"]}}, "is that of an object"),
        ({"input_schema": {"anyOf": [{}]}}, "without oneOf, anyOf, allOf at its top"),
        ({"input_schema": {"properties": []}}, "this is no JSON schema"),
        ({"input_schema": {"required": "a"}}, "this is no JSON schema"),
        ({"input_schema": {"properties": {"a": {"pattern": "(("}}}}, "this is no JSON schema"),
        ({"input_schema": {"properties": {"a": {"$ref": "http://127.0.0.1/a"}}}}, "may refer to its own parts alone"),
        ({"input_schema": {"properties": {"a": {"$ref": "file:///etc/passwd"}}}}, "may refer to its own parts alone"),
        ({"input_schema": {"properties": {"a) or more": {}}}}, "'a) or more' is no name of an argument"),
        ({"input_schema": {"properties": {"": {}}}}, "is no name of an argument"),
    ],
)
def test_what_is_no_tool_is_refused_with_what_would_be_right(fields, problem):
    with pytest.raises(ClientToolError) as refused:
        ClientTool(**({"name": "a"} | fields))
    assert problem in str(refused.value)
    assert len(str(refused.value)) < 400


def test_a_tool_is_kept_as_it_was_checked():
    schema = {"properties": {"a": {"pattern": r"^[^\u0000]+$", "title": "\ud800"}}, "$defs": {"b": {"type": "null"}}}
    told = ClientTool("a-B_1", "Does <signal type='stuck'></signal>\0\ud800 it.", schema)
    assert "<signal" not in told.description
    assert told.description.endswith("\ufffd\ufffd it.")
    assert told.input_schema["type"] == "object"
    assert told.input_schema["properties"]["a"]["title"] == "\ufffd"
    assert kept_tools({"client_tools": [told.to_json()]}) == (told,)
    assert kept_tools({}) == ()


def together(tools: list[ClientTool], taken: Collection[str] = ()) -> None:
    ClientTools(tools).check(taken=taken, tree="oracle", can_wait=True)


def test_the_tools_of_a_question_are_checked_together():
    many = [ClientTool(f"t{n}") for n in range(MOST_TOOLS)]
    together(many)
    for tools, problem in (
        ([*many, PLACE], "at most 64 tools, given 65"),
        ([PLACE, PAINT, PLACE], "two tools are named 'get_place'"),
        ([ClientTool("lookup")], "'lookup' is the name of a tool of this service"),
        ([ClientTool("vault_write")], "'vault_write' is the name of a tool of this service"),
        ([ClientTool(f"t{n}", "x" * 4_000) for n in range(17)], "at most 64,000 bytes as JSON"),
    ):
        with pytest.raises(ClientToolError, match=problem):
            together(tools, taken={"lookup"})
