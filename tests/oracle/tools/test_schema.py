from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from oracle.tools import ToolDefinitionError, ToolError, ToolRegistry, ToolResult, arguments_line, tool

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


async def echo(
    query: Annotated[str, "What to look for."],
    limit: Annotated[int, "How many.", Field(ge=1, le=50)] = 5,
    kind: Literal["fast", "slow"] = "fast",
    tags: Annotated[list[str], "Only these."] = [],  # noqa: B006 - never changed
    since: int | None = None,
    deep: bool = False,
    title: str | None = None,
) -> str:
    """Say what was given.

    Never shown to the model.
    """
    return repr((query, limit, kind, tags, since, deep, title))


ECHO = tool(group="code", when_to_use="Never.")(echo)


async def said(**arguments: Any) -> str:
    return (await ECHO.call(arguments)).text


def test_the_schema_comes_from_the_type_hints() -> None:
    assert ECHO.input_schema == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5, "description": "How many."},
            "kind": {"type": "string", "enum": ["fast", "slow"], "default": "fast"},
            "tags": {"type": "array", "items": {"type": "string"}, "default": [], "description": "Only these."},
            "since": {"type": "integer"},
            "deep": {"type": "boolean", "default": False},
            "title": {"type": "string"},
        },
        "required": ["query"],
        "additionalProperties": False,
    }


def test_the_description_is_the_first_paragraph_of_the_docstring() -> None:
    assert (ECHO.name, ECHO.description) == ("echo", "Say what was given.")


def test_the_arguments_in_short_mark_optional_ones() -> None:
    assert arguments_line(ECHO.input_schema) == "query, limit?, kind?, tags?, since?, deep?, title?"


@pytest.mark.parametrize(
    ("given_arguments", "expected"),
    [
        pytest.param({"query": "a", "limit": "7"}, ("a", 7, "fast", [], None, False, None), id="an integer as text"),
        pytest.param({"query": "a", "limit": 7.0}, ("a", 7, "fast", [], None, False, None), id="an integer as float"),
        pytest.param({"query": 404}, ("404", 5, "fast", [], None, False, None), id="a text as number"),
        pytest.param({"query": "a", "limit": None}, ("a", 5, "fast", [], None, False, None), id="null for a default"),
        pytest.param({"query": "a", "since": None}, ("a", 5, "fast", [], None, False, None), id="null for optional"),
        pytest.param(
            {"query": "a", "tags": '["x","y"]'}, ("a", 5, "fast", ["x", "y"], None, False, None), id="JSON text"
        ),
        pytest.param({"query": "a", "tags": "x, y"}, ("a", 5, "fast", ["x", "y"], None, False, None), id="commas"),
        pytest.param({"query": "a", "deep": "true"}, ("a", 5, "fast", [], None, True, None), id="a boolean as text"),
    ],
)
async def test_common_mistakes_in_arguments_are_accepted(
    given_arguments: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    assert await said(**given_arguments) == repr(expected)


@pytest.mark.parametrize(
    ("given_arguments", "parts"),
    [
        pytest.param({}, ["argument 'query' is missing", "query (string, required)"], id="missing"),
        pytest.param({"query": None}, ["'query'", "valid string", "None"], id="null for a required one"),
        pytest.param({"query": "a", "limt": 3}, ["no argument 'limt'", "Did you mean 'limit'?"], id="misspelt"),
        pytest.param({"query": "a", "limit": "many"}, ["'limit'", "valid integer", "'many'"], id="not a number"),
        pytest.param({"query": "a", "limit": True}, ["'limit'", "valid integer"], id="a truth value"),
        pytest.param({"query": "a", "limit": 99}, ["'limit'", "less than or equal to 50", "99"], id="out of range"),
        pytest.param({"query": "a", "kind": "quick"}, ["'kind'", "'fast' or 'slow'", "'quick'"], id="not in the list"),
        pytest.param({"query": "a", "tags": [1, {}]}, ["'tags.1'", "valid string"], id="inside a list"),
        pytest.param({"limit": "x", "foo": 1}, ["'query' is missing", "'limit'", "'foo'"], id="all at once"),
        pytest.param({"query": "\ud800"}, ["'query'", "surrogate"], id="a lone surrogate"),
        pytest.param({"query": "a", "tags": ["\x00"]}, ["'tags'", "NUL"], id="a NUL in a list"),
        pytest.param({"query": {"a": "b" * 5_000}}, ["…"], id="a long value is cut"),
    ],
)
async def test_wrong_arguments_are_rejected_with_a_correction(given_arguments: Any, parts: list[str]) -> None:
    with pytest.raises(ToolError) as caught:
        await ECHO.call(given_arguments)
    text = str(caught.value)
    assert all(part in text for part in parts), text
    assert text.startswith("echo: ")
    assert len(text) < 1_500


@given(st.dictionaries(st.sampled_from(["query", "limit", "kind", "tags", "since", "deep"]) | st.text(), JSON))
async def test_any_arguments_give_a_result(arguments: dict[str, Any]) -> None:
    result = await ToolRegistry([ECHO]).call("echo", arguments)
    assert isinstance(result, ToolResult)
    result.text.encode()


async def test_a_synchronous_function_and_a_bound_method_can_be_tools() -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        def count_up(self, by: int = 1) -> ToolResult:
            """Count."""
            self.count += by
            return ToolResult(str(self.count))

    counter = tool(group="code", when_to_use="To count.")(Counter().count_up)
    assert [(await counter.call({})).text, (await counter.call({"by": "4"})).text] == ["1", "5"]


async def test_arguments_may_have_any_name() -> None:
    async def odd(schema: str, model_config: str, json: str, _hidden: str = "h", copy: str = "c") -> str:
        """Odd names."""
        return schema + model_config + json + _hidden + copy

    odd_tool = tool(group="code", when_to_use="Never.")(odd)
    assert (await odd_tool.call({"schema": "1", "model_config": "2", "json": "3", "_hidden": "4"})).text == "1234c"


def without_annotation(query) -> str:
    """Look."""
    return query


def with_rest(*queries: str) -> str:
    """Look."""
    return str(queries)


def with_foreign_type(registry: ToolRegistry) -> str:
    """Look."""
    return str(registry)


def without_docstring(query: str) -> str:
    return query


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (without_annotation, "'query' of tool 'without_annotation' has no type annotation"),
        (with_rest, "cannot be given by name"),
        (with_foreign_type, "has no JSON Schema"),
        (without_docstring, "has no description"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_function_that_cannot_be_a_tool_is_a_definition_error(function: Any, message: str) -> None:
    with pytest.raises(ToolDefinitionError, match=message):
        tool(group="code", when_to_use="Never.")(function)


async def test_a_return_value_of_another_type_is_a_definition_error() -> None:
    async def wrong() -> int:
        """Return a number."""
        return 3

    with pytest.raises(ToolDefinitionError, match="returned int"):
        await tool(group="code", when_to_use="Never.")(wrong).call({})


def test_a_tool_of_a_function_can_need_a_person() -> None:
    @tool(group="orders", when_to_use="To pay back.", writes=True, needs_approval=True)
    def refund(number: int) -> str:
        """Pay an order back."""
        return str(number)

    assert refund.needs_approval
