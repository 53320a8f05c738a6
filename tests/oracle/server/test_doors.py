"""The doors: everywhere that texts of others come in. Twice as much takes at most three times the steps.

A new adapter, reader of a raw body, or reader of foreign schemas belongs into `DOORS`; the tests at the end name it.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from fastapi.exceptions import RequestValidationError
from mcp import types
from pydantic import BaseModel, BeforeValidator, FailFast, TypeAdapter, ValidationError

from oracle.core.errors import OracleError
from oracle.core.features import features, routers
from oracle.core.json_schemas import checked_schema, misfits
from oracle.features.attachments.kinds import kind_of
from oracle.features.mcp_client.connection import Connection, result_of
from oracle.server.api.adapters import adapters_of
from oracle.server.api.people import Deliveries
from oracle.server.connect.ag_ui.routes import RunAgentInput
from oracle.server.connect.ai_sdk.routes import ChatBody
from oracle.server.connect.base.chain import check_amount
from oracle.server.connect.openai.chat import read_chat
from oracle.server.connect.openai.response_requests import read_response
from oracle.tools.client_tools import read_tools

ROOT = Path(__file__).parents[3]
HI = {"role": "user", "content": "hi"}
PARTS = {"role": "user", "parts": [{"type": "text", "text": "hi"}]}
THREAD = {"threadId": "t", "runId": "r"}
PATTERNS = {"type": "object", "properties": {f"p{n}": {"pattern": ".{1,99}"} for n in range(9)}}


def body_of(reads: Callable[[Any], object]) -> Callable[[Any], object]:
    def read(body: Any) -> object:
        check_amount(body)
        return reads(body)

    return read


def tools(n: int, **more: Any) -> list[dict[str, Any]]:
    return [{"name": f"t{at}", "description": "d", **more} for at in range(n)]


def chain(n: int) -> dict[str, Any]:
    defs = {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(n)}
    return {"type": "object", "$defs": {**defs, f"d{n}": {}}, "$ref": "#/$defs/d0"}


def circle(n: int) -> dict[str, Any]:
    """Each part leads to many others."""
    defs = {
        f"d{at}": {"properties": {f"p{to}": {"$ref": f"#/$defs/d{(at * to + 1) % n}"} for to in range(5)}}
        for at in range(n)
    }
    return {"type": "object", "$defs": defs, "$ref": "#/$defs/d0"}


def nested(n: int) -> Any:
    value: Any = 1
    for _ in range(n):
        value = {"a": value}
    return value


def listed(n: int) -> object:
    return Connection._read([types.Tool(name=f"t{at}", input_schema=PATTERNS) for at in range(n)])


TWICE = {"type": "object", "properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}
DOORS: Mapping[str, tuple[Callable[[int], Any], Callable[[Any], object]]] = {
    "a schema that doubles": (chain, checked_schema),
    "a schema of many parts": (circle, checked_schema),
    "a schema of many patterns": (
        lambda n: {"properties": {f"p{at}": {"pattern": "[a-z]+"} for at in range(n)}},
        checked_schema,
    ),
    "a schema with a large enumeration": (lambda n: {"enum": list(range(10 * n))}, checked_schema),
    "a value that is checked": (
        lambda n: [{"a": "b"}] * n,
        lambda value: misfits({"items": {"required": ["b"]}}, value),
    ),
    "a deep value": (nested, lambda value: misfits({"properties": {"a": {"$ref": "#"}}}, value)),
    "a deep value of a schema that doubles": (nested, lambda value: misfits(TWICE, value)),
    "tools of a client": (lambda n: tools(n, input_schema=PATTERNS), read_tools),
    "a tool of a client with a large schema": (lambda n: tools(1, input_schema=chain(n)), read_tools),
    "tools of a server": (lambda n: n, listed),
    "a result of a server": (
        lambda n: types.CallToolResult(content=[types.TextContent(text="a")] * n),
        result_of,
    ),
    "decisions of people": (
        lambda n: [{"id": str(at), "decision": "approve"} for at in range(n)],
        TypeAdapter(Deliveries).validate_python,
    ),
    "wrong decisions of people": (lambda n: [{}] * n, TypeAdapter(Deliveries).validate_python),
    "/v1 chat completions": (lambda n: {"messages": [HI] * n}, body_of(read_chat)),
    "/v1 chat completions in parts": (
        lambda n: {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}] * n}]},
        body_of(read_chat),
    ),
    "/v1 chat completions with files": (
        lambda n: {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "a"}}] * n}]},
        body_of(read_chat),
    ),
    "a PDF": (lambda n: b"%PDF-1.7\n" + b"/Type/Page /Type/Pages /Count 1 " * n, lambda data: kind_of(data, "a.pdf")),
    "a PDF of packed objects": (
        lambda n: b"%PDF-1.7\n/Type/Page " + b"/Type/ObjStm stream\n" * n,
        lambda data: kind_of(data, "a.pdf"),
    ),
    "a picture of many segments": (
        lambda n: b"\xff\xd8" + b"\xff\xe1\0\2" * n,
        lambda data: kind_of(data, "a.jpg"),
    ),
    "/v1 responses": (lambda n: {"input": [HI] * n}, body_of(read_response)),
    "/v1 responses with tools": (
        lambda n: {"input": "hi", "tools": [{"type": "function", "parameters": PATTERNS, **each} for each in tools(n)]},
        body_of(read_response),
    ),
    "/api/chat": (lambda n: {"messages": [PARTS] * n}, lambda body: ChatBody.model_validate(body).asked()),
    "/api/chat in parts": (
        lambda n: {"messages": [PARTS | {"parts": PARTS["parts"] * n}]},
        lambda body: ChatBody.model_validate(body).asked(),
    ),
    "/api/chat, wrong": (lambda n: {"messages": [{}] * n, "tools": [{}] * n}, ChatBody.model_validate),
    "/agui": (lambda n: THREAD | {"messages": [HI] * n}, lambda body: RunAgentInput.model_validate(body).asked()),
    "/agui, wrong": (
        lambda n: THREAD | {"messages": [1] * n, "tools": [1] * n, "resume": [1] * n},
        RunAgentInput.model_validate,
    ),
    "/mcp": (lambda n: {"params": {"inputResponses": {str(at): {} for at in range(n)}}}, check_amount),
}
"""By names; those of adapters begin with its path. What is made of a number, and what reads it."""


def steps_of(read: Callable[[Any], object], given: Any) -> int:
    """The calls of Python and C that reading comes to, and the mistakes that a checker has listed."""
    count = 0

    def counted(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        read(given)
    except ValidationError as error:
        sys.setprofile(None)
        return count + error.error_count()
    except (ValueError, OracleError, RequestValidationError):
        pass
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", DOORS)
def test_twice_the_input_takes_at_most_three_times_the_steps(name):
    made, read = DOORS[name]
    steps_of(read, made(2))  # what is made once
    counts = [steps_of(read, made(n)) for n in (16, 32, 64, 128, 256)]
    for fewer, more in pairwise(counts):
        assert more <= 3 * fewer + 100, counts


@pytest.mark.parametrize("name", DOORS)
def test_no_door_takes_more_than_a_bounded_number_of_steps(name):
    made, read = DOORS[name]
    assert steps_of(read, made(20_000 if "schema" not in name else 2_000)) < 3_000_000


def test_every_adapter_has_its_doors():
    for adapter in adapters_of(features()):
        assert any(name.startswith(adapter.path) for name in DOORS), f"{adapter.path} is to be in DOORS"


def modules_with(pattern: str) -> set[str]:
    """The modules whose text has this."""
    files = (ROOT / "oracle").rglob("*.py")
    return {str(file.relative_to(ROOT / "oracle")) for file in files if re.search(pattern, file.read_text())}


def test_every_reader_of_foreign_schemas_is_known_and_one_module_evaluates_them():
    assert modules_with(r"import jsonschema") == {"core/json_schemas.py"}
    assert modules_with(r"import(_module\(| ).*\b(checked_schema|misfits|arguments_schema)\b") == {
        "agent/nodes/people.py",  # what trees ask people
        "cli/people.py",  # what people answer at the terminal
        "features/mcp_client/connection.py",  # tools of MCP servers
        "features/structured_answers/asking.py",  # what a question says of its answer
        "features/structured_answers/checking.py",  # the answer
        "runs/storage/interrupts.py",  # what they answer else, and arguments that they edit
        "tools/client_tools.py",  # tools of clients
        "tools/foreign.py",
    }
    assert modules_with(r"import .*\bClientTools?\b") == {
        "server/connect/base/chain.py",  # types alone, as below
        "server/connect/openai/response_requests.py",
    }, "tools of a request are read by `read_tools`"


def test_every_reader_of_a_raw_body_is_known():
    assert modules_with(r"\brequest\.(body|stream|json|form)\(") == {
        "features/attachments/calls.py",  # a file, by its bytes
        "features/mcp_server/routes.py",
        "server/api/queries.py",  # a question, by its model; what it does not take, FastAPI reads
        "server/connect/openai/requests.py",
    }


def bodies() -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """The type of each body, and what is said of it, by its call."""
    api = [f"oracle.server.api.{file.stem}" for file in (ROOT / "oracle/server/api").glob("*.py")]
    of_features = [place.partition(":")[0] for place in routers(features())]
    for name in sorted([*api, *of_features, *(each.module for each in adapters_of(features()))]):
        router = getattr(import_module(name), "router", None)
        for route in () if router is None else router.routes:
            for param in route.dependant.body_params if hasattr(route, "dependant") else ():
                yield f"{name} {route.path}", param.field_info.annotation, tuple(param.field_info.metadata)


def lists_in(kind: Any, said: tuple[Any, ...], seen: set[Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The lists of models in a type, with what is said of them."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        yield from lists_in(inner[0], (*said, *inner[1:]), seen)
        return
    if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in seen:
        seen.add(kind)
        for field in kind.model_fields.values():
            yield from lists_in(field.annotation, tuple(field.metadata), seen)
    if origin in (list, tuple, set, frozenset, dict) and inner[-1] is not Any:
        yield kind, said
    for each in inner:
        yield from lists_in(each, said if origin in (Union, UnionType) else (), seen)


def test_every_list_in_a_body_ends_at_its_first_mistake_or_has_a_greatest_length():
    found = 0
    for call, kind, said in bodies():
        for each, about in lists_in(kind, said, set()):
            found += 1
            bounds = [one for one in about if isinstance(one, FailFast | BeforeValidator) or hasattr(one, "max_length")]
            assert bounds, f"{call}: {each} has neither `max_length` nor `FailFast`"
    assert found > 8
