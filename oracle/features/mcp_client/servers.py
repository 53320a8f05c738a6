"""The file of MCP servers: read with the places of all its mistakes.

```yaml
servers:
  tickets:
    url: https://tickets.example.com/mcp
    headers: { Authorization: "Bearer ${TICKETS_TOKEN}" }
    allow: ["search*", get_ticket]
    writes: false
```
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from bt_runtime.language.kind import NodeSettings
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import YamlNode
from oracle.core.sources import QueryTypes, shipped_types
from oracle.core.yaml_records import Reader, read_file
from oracle.tools.errors import ToolSetupError
from oracle.tools.labels import contradiction, labels_of
from oracle.tools.protocol import GROUPS, Tool
from oracle.tools.selection import check_types

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HANDED: Final = re.compile(r"[Xx]-[A-Za-z0-9-]{1,98}")
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OPEN: Final = re.compile(r"\$\{(?![A-Za-z_][A-Za-z0-9_]*\})")
_MOST_SERVERS: Final = 64
Globs = Annotated[tuple[str, ...], Field(max_length=200)]


@dataclass(frozen=True, slots=True)
class ServerState:
    """How a server stands.

    Args:
        name: the operator's name of it.
        is_connected: its tools can be called.
        problem: why it cannot be spoken to; empty: it can, or has not been tried yet.
        tools: those that a query may begin with now; their descriptions are the server's own words.
        left_out: why others of its tools are not offered, by name.
    """

    name: str
    is_connected: bool
    problem: str
    tools: Sequence[Tool]
    left_out: Mapping[str, str]


class ServerSettings(NodeSettings):
    """One server.

    Args:
        command: the program that is started and spoken to by its standard streams.
        args: its arguments.
        env: its environment, besides `PATH` and `HOME`.
        url: where it listens, instead of a command.
        headers: sent with each request.
        pass_headers: names of headers of the user's request that are sent with the calls of it.
        allow: globs of the tools that are used; without any all are.
        deny: globs of tools that are not.
        group: what its tools work on; by default the name of the server.
        query_types: the types of queries that are offered its tools, or `always`; by default their words decide.
        writes: whether its tools change data, or globs of those that do.
        trusts_annotations: a tool that the server calls read-only does not write.
        approve: whether a person must approve each call, or globs of the tools of which that holds.
        labels: what its tools read and where they write, by globs of their names; without any they count as all.
        timeout_s: of a call, and of the start.
        largest_bytes: of one message of the server.
    """

    command: str | None = Field(default=None, min_length=1)
    args: Globs = ()
    env: dict[str, str] = Field(default_factory=dict)
    url: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    pass_headers: tuple[str, ...] = Field(default=(), max_length=20)
    allow: Globs = ()
    deny: Globs = ()
    group: str = Field(default="", pattern=r"^([a-z][a-z0-9_-]{0,31})?$")
    query_types: Literal["always"] | tuple[str, ...] | None = None
    writes: bool | Globs = True
    trusts_annotations: bool = False
    approve: bool | Globs = False
    labels: dict[str, dict[str, str | Globs]] = Field(default_factory=dict, max_length=200)
    timeout_s: float = Field(default=30.0, gt=0, le=600, allow_inf_nan=False)
    largest_bytes: int = Field(default=4_000_000, ge=10_000, le=100_000_000)

    @model_validator(mode="after")
    def _is_whole(self) -> "ServerSettings":
        if (self.command is None) == (self.url is None):
            raise ValueError("a server has either a 'command' or a 'url'")
        if self.url is not None and not _is_address(self.url):
            raise ValueError(f"'url' must be like https://example.com/mcp, not {self.url[:200]!r}")
        wrong = [name for name in self.headers if not _HEADER.fullmatch(name)]
        if wrong:
            raise ValueError(f"{wrong[0][:80]!r} is no name of a header")
        if self.command is None and (self.args or self.env):
            raise ValueError("'args' and 'env' are for a 'command'")
        if self.url is None and (self.headers or self.pass_headers):
            raise ValueError("'headers' and 'pass_headers' are for a 'url'")
        own = {name.lower() for name in self.headers}
        wrong = [name for name in self.pass_headers if not _HANDED.fullmatch(name) or name.lower() in own]
        if wrong:
            raise ValueError(
                f"{wrong[0][:80]!r} is not passed on: only names that begin with 'X-' and are not in 'headers' are"
            )
        if self.group in GROUPS:
            raise ValueError(f"the group {self.group!r} is that of built-in tools; choose another name")
        for value in (*self.args, *self.env.values(), *self.headers.values()):
            if _OPEN.search(value):
                raise ValueError("'${' begins the name of a variable, as in '${TICKETS_TOKEN}'")
        return self

    @model_validator(mode="after")
    def _is_labelled_once(self) -> "ServerSettings":
        read: dict[str, frozenset[str]] = {}
        for glob, given in self.labels.items():
            shown = repr(glob[:80])
            try:
                read[glob] = labels_of(given)
            except ValueError as error:
                raise ValueError(f"'labels' of {shown}: {error}") from None
            for other, words in read.items():
                clash = contradiction(read[glob] | words)
                if clash and (fnmatchcase(glob, other) or fnmatchcase(other, glob)):
                    both = f"{shown} and {other[:80]!r} mean the same tool, and say {clash[0]!r} and {clash[1]!r}"
                    raise ValueError(f"'labels': {both}; remove one of the two")
        return self

    def has(self, tool: str) -> bool:
        """Whether a tool of the server is used."""
        return _says(self.allow or True, tool) and not _says(self.deny, tool)

    def changes(self, tool: str, *, is_called_reading: bool) -> bool:
        """Whether a tool counts as one that changes data."""
        return _says(self.writes, tool) and not (self.trusts_annotations and is_called_reading)

    def is_approved_first(self, tool: str) -> bool:
        """Whether a person must approve each call of a tool."""
        return _says(self.approve, tool)

    def labels_of(self, tool: str) -> frozenset[str] | None:
        """The labels of a tool; `None`: the file does not say. Where two contradict each other, the stricter counts."""
        found = [labels_of(given) for glob, given in self.labels.items() if fnmatchcase(tool, glob)]
        return frozenset().union(*found) if found else None


def _says(given: bool | tuple[str, ...], tool: str) -> bool:  # noqa: FBT001  as the file has it
    return given if isinstance(given, bool) else any(fnmatchcase(tool, each) for each in given)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and url.isascii() and not parts.username


def filled(text: str, environ: Mapping[str, str]) -> str:
    """The text with the values of `${VARIABLES}`.

    Raises:
        ToolSetupError: one is not set.
    """
    try:
        return _VARIABLE.sub(lambda match: environ[match[1]], text)
    except KeyError as error:
        raise ToolSetupError(f"the variable {error.args[0]} is not set in the environment of this process") from None


def read_servers(path: Path | None, types: QueryTypes | None = None) -> Mapping[str, ServerSettings]:
    """The servers of a file, by name; `None`: there are none.

    Args:
        path: of the file.
        types: those of the domain's queries; `None`: the shipped ones.

    Raises:
        ToolSetupError: it cannot be read, or has mistakes; the message has the places of all of them.
    """
    if path is None:
        return {}
    read = partial(_servers, types=types or shipped_types())
    return read_file(path, read, what="the file of MCP servers", error=ToolSetupError)


def _servers(reader: Reader, root: YamlNode, types: QueryTypes) -> Mapping[str, ServerSettings]:
    hint = "write 'servers:' and their names below"
    fields = reader.fields(root, ("servers",), what="the file", required=("servers",), hint=hint)
    if "servers" not in fields:
        return {}
    hint = "up to 32 lower-case letters, digits and '-', a letter first"
    found = reader.settings(
        fields["servers"], ServerSettings, noun="server", of="the server", names=_NAME, hint=hint, most=_MOST_SERVERS
    )
    for name, settings in found.items():
        try:
            check_types(() if settings.query_types == "always" else settings.query_types or (), types)
        except ValueError as error:
            reader.report(fields["servers"], f"'query_types' of the server {name!r}: {error}")
    return found
