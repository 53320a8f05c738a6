"""Tools that the client of a query brings with the question, and runs itself.

Rules:

- Tool definitions from a client are untrusted, so they are checked before anything else reads them.
- They are offered in every query that brings them, whatever its type and its tree, after those of the service.
- A call passes the limits, rules and approvals of the tree like any other. Then it is sent to the client as a question
  (`oracle.agent.people`), and the run waits for the answer, which is the call's result.
- A call that the client does not answer in time gets an error as its result.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, cast

from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import clipped
from oracle.core.encoding import to_json
from oracle.core.errors import UserError
from oracle.tools.errors import ToolError
from oracle.tools.foreign import LONGEST_DESCRIPTION, arguments_schema, plain_description
from oracle.tools.protocol import ALWAYS, BUILT_IN_TOOLS, Tool, ToolResult
from oracle.tools.registry import ToolRegistry
from oracle.tools.text import clean

CLIENT_GROUP: Final = "client"
MOST_TOOLS: Final = 64
MOST_BYTES: Final = 64_000
"""Of all tools of a question, as JSON."""

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_WHEN: Final = "The user's application runs it; its description says what for."


class ClientToolError(UserError, ValueError):
    """A tool of the client cannot be offered."""

    loc = ("body", "tools")
    n: int | None = None
    """Its index among the tools of the question; `None`: not known, or all of them."""


@dataclass(frozen=True, slots=True)
class ClientTool:
    """A tool that the client runs.

    Args:
        name: by which the model calls it: 1 to 64 letters, digits, `_` and `-`.
        description: for the model, up to 4,000 characters.
        input_schema: JSON schema of an object, up to 16,000 bytes as JSON; without one there are no arguments.

    Raises:
        ClientToolError: one of them is something else.
    """

    name: str
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name, description = cast("tuple[object, object]", (self.name, self.description))  # nobody has checked them
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            shown = clipped(clean(str(name)), 80)
            raise ClientToolError(f"{shown!r} is no name of a tool: it has 1 to 64 letters, digits, '_' and '-'")
        about = f"the tool {name!r}"
        if not isinstance(description, str) or len(description) > LONGEST_DESCRIPTION:
            raise ClientToolError(f"{about}: its description is a text of at most {LONGEST_DESCRIPTION:,} characters")
        try:
            object.__setattr__(self, "input_schema", arguments_schema(self.input_schema))
        except ValueError as error:
            raise ClientToolError(f"{about}: {error}") from None
        object.__setattr__(self, "description", plain_description(description))

    def to_json(self) -> dict[str, Any]:
        """The fields as a JSON object."""
        return {"name": self.name, "description": self.description, "input_schema": dict(self.input_schema)}

    def as_tool(self) -> Tool:
        """The tool as the query has it. What it does is not known, so it counts as one that writes."""
        return Tool(
            name=self.name,
            description=self.description,
            when_to_use=_WHEN,
            input_schema=self.input_schema,
            call=_run_elsewhere,
            group=CLIENT_GROUP,
            writes=True,
            query_types=ALWAYS,
            is_client_side=True,
        )


async def _run_elsewhere(_arguments: Mapping[str, Any]) -> ToolResult:
    raise ToolError("This tool is run by the user's application, when the model calls it.")


class ClientTools(tuple[ClientTool, ...]):
    """The tools of a question, each of them checked; an `Ask` brings them."""

    __slots__ = ()

    def check(self, *, taken: Collection[str], tree: str, can_wait: bool) -> None:
        """Check them together, and with what the query has besides.

        Args:
            taken: the names of the service's tools.
            tree: the name of the control.
            can_wait: whether that control can wait for answers of the client.

        Raises:
            ClientToolError: there are too many, two tools have the same name, or the control cannot wait for them.
        """
        _check_size(self.to_json())
        seen: set[str] = set()
        for each in self:
            if each.name in taken or each.name in BUILT_IN_TOOLS:
                raise ClientToolError(f"{each.name!r} is the name of a tool of this service: give yours another name")
            if each.name in seen:
                raise ClientToolError(f"two tools are named {each.name!r}: names must be unique")
            seen.add(each.name)
        if not can_wait:
            raise ClientToolError(f"{tree!r} is no YAML tree: only those can wait for tools of the client")

    def behind(self, registry: ToolRegistry) -> ToolRegistry:
        """The tools of the service, followed by these; one of these replaces one of the same name."""
        own = {each.name: each.as_tool() for each in self}
        if not own:
            return registry
        return registry.remade([*(each for each in registry.tools if each.name not in own), *own.values()])

    def to_json(self) -> list[dict[str, Any]]:
        """Each of them as a JSON object."""
        return [each.to_json() for each in self]


def read_tools(given: Sequence[Mapping[str, Any]]) -> ClientTools:
    """The tools that a question brings; their number and size are checked before anything of them is read.

    Args:
        given: the arguments of `ClientTool`, for each tool.

    Raises:
        ClientToolError: they are too many or too large, or one of them cannot be offered.
    """
    _check_size(given)
    tools = []
    for n, each in enumerate(given):
        try:
            tools.append(ClientTool(**each))
        except ClientToolError as error:
            error.n = n
            raise
    return ClientTools(tools)


def _check_size(tools: Sequence[Mapping[str, Any]]) -> None:
    if len(tools) > MOST_TOOLS:
        raise ClientToolError(f"a question brings at most {MOST_TOOLS} tools, given {len(tools):,}")
    try:
        size = len(to_json(tools))
    except (TypeError, RecursionError) as error:
        raise ClientToolError(f"the tools of a question are no JSON data: {error}") from None
    if size > MOST_BYTES:
        raise ClientToolError(f"the tools of a question have at most {MOST_BYTES:,} bytes as JSON, given {size:,}")


def kept_tools(asked: Mapping[str, Any]) -> ClientTools:
    """The tools of a question, from the input that its run's row keeps."""
    return ClientTools(ClientTool(**each) for each in asked.get("client_tools", ()))
