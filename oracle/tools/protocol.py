"""The types of a tool and its result."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Final, Protocol

from bt_runtime.text.data import dataclass
from oracle.core.chunks import Source
from oracle.llm.protocol import ToolDefinition

GROUPS = ("code", "vault", "thread", "web")
"""The groups of the built-in tools; a package's tools may have groups of their own."""

BUILT_IN_TOOLS = frozenset(
    {
        *("search_code", "read_file", "list_files"),
        *("vault_search", "vault_read", "vault_list", "vault_write"),
        *("thread_read", "thread_seek", "thread_push"),
        "web_search",
    }
)
"""The names that tools of other packages cannot have, whatever project, vault and provider there are."""

READS: Final[Mapping[str, str]] = {"private": "public", "untrusted": "trusted"}
"""The labels of what a tool reads, each with its opposite: data of a person; text that strangers may write."""
WRITES: Final[Mapping[str, str]] = {"outward": "inward"}
"""The label of where a tool writes, with its opposite: what a call is given can leave the hands of the user."""

ALWAYS = ("always",)
"""The `query_types` of a tool that all queries are offered."""

ToolGroup = str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call.

    Args:
        text: for the model and the user, of bounded length.
        is_error: the call failed; the text says why and what would be correct.
        sources: the sources of the text.
        is_empty: the call succeeded but found nothing.
        offers: names of the tools that the text speaks of, which are offered from now on; set by the control alone.
    """

    text: str
    is_error: bool = False
    sources: tuple[Source, ...] = ()
    is_empty: bool = False
    offers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Around:
    """The lines that are wanted.

    Args:
        line: the number of the middle line, from 1; `None` means the beginning of the file.
        before: the number of lines shown before `line`.
        after: the number of lines shown after `line`.
    """

    line: int | None = None
    before: int = 20
    after: int = 60


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a file, as many as fit into two results of a tool; long ones are cut.

    Args:
        first_line: the number of the first one, from 1.
        lines: without line ends; none of an empty file.
        total_lines: the number of lines in the whole file.
        is_exact: the file is valid in its encoding; otherwise wrong bytes are U+FFFD.
        is_whole: the whole file was read; otherwise its first 16 MB.
    """

    first_line: int
    lines: tuple[str, ...]
    total_lines: int
    is_exact: bool
    is_whole: bool


@dataclass(frozen=True)
class Tool:
    """A tool.

    Args:
        name: the name under which the model calls the tool, unique in a registry.
        description: for the model: what it does and returns.
        when_to_use: one sentence for the prompt's tool reference.
        input_schema: JSON Schema of its arguments.
        call: validates the arguments and runs the tool.
        group: what it works on: one of `GROUPS`, or a group of its own.
        writes: it changes data; offered only where something is to be written.
        query_types: the types of queries that are offered it; `ALWAYS`: all; `None`: its group and its words decide.
        examples: questions that it answers; they place a tool of a group of its own.
        takes_key: it writes, and does nothing twice for the same `oracle.tools.call_key()`.
        excerpt: reads lines of what a source of its group names, for people; `None`: it reads none.
        timeout_s: time limit of a call in seconds.
        is_server_side: the provider runs it within the turn; it is part of the request and never called here.
        is_client_side: the client that has asked runs it, and the query waits for the result; never called here.
        needs_approval: a person must approve each call of the model, whatever the tree says.
        on_demand: it is offered by the control alone, where it is of use, and no source of information by itself.
        labels: what it reads and where it writes (`READS`, `WRITES`); `None`: nobody has said, and it may be anything.
    """

    name: str
    description: str
    when_to_use: str
    input_schema: Mapping[str, Any]
    call: Callable[[Mapping[str, Any]], Awaitable[ToolResult]]
    group: ToolGroup
    writes: bool = False
    timeout_s: float = 30.0
    is_server_side: bool = False
    query_types: tuple[str, ...] | None = None
    examples: tuple[str, ...] = ()
    excerpt: Callable[[str, Around], Awaitable[Excerpt]] | None = None
    takes_key: bool = False
    is_client_side: bool = False
    needs_approval: bool = False
    on_demand: bool = False
    labels: frozenset[str] | None = None

    @property
    def flows(self) -> tuple[str, ...]:
        """Those of `READS` and `WRITES` that it has, or may have."""
        known = (*READS, *WRITES)
        return known if self.labels is None else tuple(label for label in known if label in self.labels)

    def labels_with(self, given: Sequence[tuple[str, frozenset[str]]]) -> frozenset[str] | None:
        """Its labels with those that others give to patterns of names."""
        found = [words for pattern, words in given if fnmatchcase(self.name, pattern)]
        return (self.labels or frozenset()).union(*found) if found else self.labels

    @cached_property
    def definition(self) -> ToolDefinition:
        """The tool as it is offered to the model."""
        return ToolDefinition(self.name, self.description, self.input_schema)


class ChangingTools(Protocol):
    """Tools that come and go while the process lives; a query keeps those that it has begun with.

    Attributes:
        pass_headers: names of headers of users that their queries' tools hand on, in lower case.
    """

    pass_headers: frozenset[str]

    def tools(self) -> Sequence[Tool]:
        """Those that a query may begin with now."""
        ...

    def known(self) -> Sequence[Tool]:
        """All that a query may have begun with; a call of one that is gone is an error for the model."""
        ...

    def missing(self) -> Sequence[str]:
        """What operators expect to be offered and is not, by name."""
        ...


def arguments_line(schema: Mapping[str, Any]) -> str:
    """The arguments in short form, for a tool reference: `query, limit?`."""
    required = schema.get("required", ())
    return ", ".join(name if name in required else f"{name}?" for name in schema.get("properties", {}))
