"""Makes tools from functions: the JSON Schema and the validation of the arguments are derived from the type hints.

Rules:

- Every parameter can be passed by name and is annotated; `Annotated[str, "what it means"]` describes it to the model.
- Common mistakes of models are accepted: `"5"` is an integer, `7` is a string, `null` for an argument with a default is
  that default, and a list may be given as JSON text. Everything else is rejected, with all mistakes in one message.
- A synchronous function runs in a daemon thread (`oracle.tools.workers`), an asynchronous one on the event loop.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError

from bt_runtime.text import near
from oracle.core.errors import ToolDefinitionError
from oracle.tools.errors import ToolError
from oracle.tools.labels import Labels, labels_of
from oracle.tools.protocol import Around, Excerpt, Tool, ToolGroup, ToolResult
from oracle.tools.suggest import did_you_mean
from oracle.tools.text import clean, is_clean
from oracle.tools.workers import Workers

Function = Callable[..., Any]
"""Returns a `ToolResult` or a string, or an awaitable of one."""


def tool(  # noqa: PLR0913  keywords, most of them with defaults
    *,
    group: ToolGroup,
    when_to_use: str,
    name: str | None = None,
    description: str | None = None,
    writes: bool = False,
    takes_key: bool = False,
    needs_approval: bool = False,
    timeout_s: float = 30.0,
    workers: Workers | None = None,
    query_types: Sequence[str] | Literal["always"] | None = None,
    examples: Sequence[str] = (),
    labels: Labels | None = None,
) -> Callable[[Function], Tool]:
    """Make a tool of a function or a bound method.

    Args:
        group: what it works on: `code`, `vault`, `thread` or `web`, or a group of its own.
        when_to_use: one sentence for the prompt's tool reference.
        name: as the model calls it; the function's name by default.
        description: for the model; the first paragraph of the docstring by default.
        writes: whether a call changes data outside the query.
        takes_key: whether a call with the same `oracle.tools.call_key()` does nothing twice.
        needs_approval: whether a person must approve each call of the model, whatever the tree says.
        timeout_s: time limit of a call in seconds.
        workers: the threads for a synchronous function; new ones by default.
        query_types: the types of queries that are offered the tool, `always` for all; by default its group decides, and
            for a group of its own the words of its description, `when_to_use` and `examples`.
        examples: questions that it answers.
        labels: what it reads and where it writes, for rules about what may flow where: `{"reads": "private"}`,
            `{"reads": "untrusted", "writes": "outward"}`; without any it counts as all of them.

    Raises:
        ToolDefinitionError: the function cannot be a tool.
    """
    offered = served(query_types)
    try:
        labelled = None if labels is None else labels_of(labels)
    except ValueError as error:
        raise ToolDefinitionError(f"labels of the tool {name or when_to_use!r}: {error}") from None

    def make(function: Function) -> Tool:
        tool_name = name or str(getattr(function, "__name__", ""))
        about = description or " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
        if not about:
            raise ToolDefinitionError(f"tool {tool_name!r} has no description; give it a docstring")
        if timeout_s <= 0:
            raise ToolDefinitionError(f"tool {tool_name!r} has timeout_s {timeout_s!r}; it must be greater than 0")
        arguments = Arguments(function, name=tool_name)
        threads = None if inspect.iscoroutinefunction(function) else workers or Workers()
        return Tool(
            name=tool_name,
            description=about,
            when_to_use=when_to_use,
            input_schema=arguments.schema,
            call=partial(_call, function, arguments, threads),
            group=group,
            writes=writes,
            takes_key=takes_key,
            needs_approval=needs_approval,
            timeout_s=timeout_s,
            query_types=offered,
            examples=tuple(examples),
            labels=labelled,
        )

    return make


def served(query_types: Sequence[str] | str | None) -> tuple[str, ...] | None:
    """The query types that a tool says it serves; `None` leaves it to its group and its words.

    Whether there are such types is for the domain to say: `check_tools`.
    """
    if query_types is None:
        return None
    return (query_types,) if isinstance(query_types, str) else tuple(query_types)


def with_excerpts(made: Tool, read: Callable[[str, Around], Excerpt], workers: Workers) -> Tool:
    """The tool, which also reads excerpts for people, in a thread.

    Args:
        made: the tool.
        read: reads an excerpt; raises `ToolError` for what may not be shown.
        workers: the threads.
    """

    async def excerpt(path: str, around: Around) -> Excerpt:
        return await workers.run(partial(read, path, around))

    return replace(made, excerpt=excerpt)


class Arguments:
    """The arguments of a function: their JSON Schema for the model, and their validation.

    Raises:
        ToolDefinitionError: a parameter is not annotated, cannot be passed by name, or its type has no schema.
    """

    def __init__(self, function: Function, *, name: str) -> None:
        self.name = name
        try:
            hints = get_type_hints(function, include_extras=True)
        except (NameError, TypeError) as error:
            raise ToolDefinitionError(f"the type hints of tool {name!r} cannot be read: {error}") from error
        fields: dict[str, Any] = {}
        self._parameters: dict[str, Any] = {}  # the annotations, without `None` and descriptions
        for index, parameter in enumerate(inspect.signature(function).parameters.values()):
            if parameter.kind not in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
                raise ToolDefinitionError(f"parameter {str(parameter)!r} of tool {name!r} cannot be given by name")
            if parameter.name not in hints:
                raise ToolDefinitionError(f"parameter {parameter.name!r} of tool {name!r} has no type annotation")
            annotation, text = _described(hints[parameter.name])
            default = ... if parameter.default is parameter.empty else parameter.default
            field = Field(default, alias=parameter.name, description=text)
            fields[f"argument_{index}"] = (annotation, field)  # pydantic does not allow every name
            self._parameters[parameter.name] = _bare(annotation)
        config = ConfigDict(extra="forbid", coerce_numbers_to_str=True, arbitrary_types_allowed=False)
        try:
            self._model = create_model(f"{name}_arguments", __config__=config, **fields)
            self.schema = _tidy(self._model.model_json_schema(by_alias=True))
        except (PydanticUserError, TypeError) as error:
            raise ToolDefinitionError(f"tool {name!r} has a parameter that has no JSON Schema: {error}") from error

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Validate arguments and convert them to the function's types.

        Raises:
            ToolError: some are missing, unknown or wrong; the message names all of them.
        """
        required = self.schema.get("required", ())
        prepared = {
            str(name): _prepared(value, self._parameters.get(name))
            for name, value in given.items()
            if value is not None or name in required or name not in self._parameters
        }
        broken = next((name for name, value in prepared.items() if not _is_clean(value)), None)
        if broken is not None:
            problem = "has characters that no text can have (a NUL or half of a surrogate pair)"
            raise ToolError(f"{self.name}: argument {clean(broken)[:80]!r} {problem}; leave them out.")
        try:
            checked = self._model.model_validate(prepared)
        except ValidationError as error:
            raise ToolError(self._complaint(error)) from None
        fields = type(checked).model_fields
        return {str(field.alias): getattr(checked, attribute) for attribute, field in fields.items()}

    def _complaint(self, error: ValidationError) -> str:
        mistakes = []
        for mistake in error.errors(include_url=False, include_context=False)[:10]:
            place = [str(part) for part in mistake["loc"]]
            argument = ".".join(place) or "arguments"
            if mistake["type"] == "extra_forbidden" and len(place) == 1:
                hint = did_you_mean(near(argument, self._parameters))
                mistakes.append(f"there is no argument {argument[:80]!r}.{hint}")
            elif mistake["type"] == "missing":
                mistakes.append(f"argument {argument!r} is missing.")
            else:
                problem = mistake["msg"].removeprefix("Input ").removeprefix("Value error, ")
                mistakes.append(f"argument {argument[:80]!r} {problem}, given {_shown(mistake['input'])}.")
        return f"{self.name}: {' '.join(mistakes)} {self._usage()}"

    def _usage(self) -> str:
        if not self._parameters:
            return "It takes no arguments."
        required = self.schema.get("required", ())
        parts = []
        for name, property_schema in self.schema["properties"].items():
            kind = property_schema.get("type") or ("one of " + json.dumps(property_schema.get("enum", "several types")))
            parts.append(f"{name} ({kind}, {'required' if name in required else 'optional'})")
        return f"Arguments: {', '.join(parts)}."


async def _call(
    function: Function, arguments: Arguments, workers: Workers | None, given: Mapping[str, Any]
) -> ToolResult:
    checked = arguments.check(given)
    if workers is None:
        result = await function(**checked)
    else:
        result = await workers.run(partial(function, **checked))
    if isinstance(result, str):
        return ToolResult(result)
    if not isinstance(result, ToolResult):
        raise ToolDefinitionError(f"tool {arguments.name!r} returned {type(result).__name__}, not ToolResult or str")
    return result


def _described(annotation: Any) -> tuple[Any, str | None]:  # noqa: ANN401 - annotations may be anything
    """Split the description from `Annotated`; other metadata (pydantic's constraints) is kept."""
    if get_origin(annotation) is not Annotated:
        return annotation, None
    base, *metadata = get_args(annotation)
    texts = [item for item in metadata if isinstance(item, str)]
    rest = [item for item in metadata if not isinstance(item, str)]
    return (Annotated[(base, *rest)] if rest else base), " ".join(texts) or None


def _bare(annotation: Any) -> Any:  # noqa: ANN401
    """The type without `Annotated` and `| None`."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in {Union, UnionType}:
        kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
        return kinds[0] if len(kinds) == 1 else annotation
    return annotation


def _prepared(value: Any, annotation: Any) -> Any:  # noqa: ANN401
    """The value prepared for pydantic: lists from strings, and no boolean is accepted as a number."""
    if annotation in {int, float} and isinstance(value, bool):
        return str(value).lower()
    if (get_origin(annotation) or annotation) in {list, tuple} and isinstance(value, str):
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError):
            return [part.strip() for part in value.split(",")]
        return decoded if isinstance(decoded, list) else [value]
    return value


def _is_clean(value: object) -> bool:
    if isinstance(value, list):
        return all(_is_clean(item) for item in value if isinstance(item, str))
    return not isinstance(value, str) or is_clean(value)


def _shown(value: object) -> str:
    text = repr(value[:80] if isinstance(value, str) else value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _tidy(schema: dict[str, Any]) -> dict[str, Any]:
    """Remove what only costs tokens: titles, and the `null` of optional arguments, which may be omitted."""
    properties = {}
    for name, given in schema.get("properties", {}).items():
        kept = {key: value for key, value in given.items() if key != "title"}
        kinds = [kind for kind in kept.get("anyOf", ()) if kind != {"type": "null"}]
        if len(kinds) == 1:
            kept = {**kinds[0], **{key: value for key, value in kept.items() if key != "anyOf"}}
        if kept.get("default", ...) is None:
            del kept["default"]
        properties[name] = kept
    rest = {key: value for key, value in schema.items() if key not in {"title", "properties"}}
    return {"type": "object", "properties": properties, **rest, "additionalProperties": False}
