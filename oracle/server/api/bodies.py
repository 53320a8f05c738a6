"""What requests look like, for the checks and for `/openapi.json`; `replies` has what answers look like.

A request with an `Idempotency-Key` that is sent again attaches to the first's run (`oracle.runs.storage.request_keys`):

- The key is the client's, opaque, and its user's alone.
- Two requests are the same if they ask the same: what is left out and what is given as `null` are, and so are the two
  spellings of a limit. Whether the answer is read as a stream or whole does not matter; whether it is read at all does:
  a run that needs no reader is another one.
"""

import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, Literal

from fastapi import Body, Header
from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from starlette.requests import Request

from bt_runtime import ForcedResult
from oracle.agent.query import LONGEST_QUESTION
from oracle.core.encoding import to_json
from oracle.core.errors import UserError
from oracle.decision import AgentConfig
from oracle.runs.storage.breakpoints import BreakpointKind
from oracle.runs.storage.request_keys import RequestKey
from oracle.runs.storage.titles import one_line
from oracle.tools.client_tools import MOST_TOOLS

_LONGEST_NAME = 200
MOST_ATTACHMENTS = 10
_OF_FEATURES = ("attachments", "response_format")
_MOST_UNKNOWN = 50  # fields of a request that are looked at one by one


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise PydanticCustomError("nul_character", "text must not contain a NUL character")
    return text


def _whole_characters(text: str) -> str:
    if not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text):
        raise PydanticCustomError("half_a_character", "text must not contain half of a surrogate pair")
    return text


def _as_title(text: str) -> str:
    line = one_line(text)
    if not line:
        raise PydanticCustomError("empty_title", "a title must have 1-{most} visible characters", {"most": 200})
    return line


Title = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME), AfterValidator(_as_title)]
Name = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME), AfterValidator(_without_nul)]


class RequestBody(BaseModel):
    """What a request may hold: fields that are known, in their own types.

    Of a great number of unknown fields some are refused by name; the work is that of reading them all, no more.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _bound_unknown(cls, given: object) -> object:
        if not isinstance(given, dict) or len(given) <= _MOST_UNKNOWN:
            return given
        known = {name: given[name] for name in _names(cls) if name in given}
        return {**dict(islice(given.items(), _MOST_UNKNOWN)), **known}


def _names(body: type[BaseModel]) -> Iterator[str]:
    for name, field in body.model_fields.items():
        aliases = field.validation_alias
        yield from map(str, aliases.choices) if isinstance(aliases, AliasChoices) else (name,)


class Limits(RequestBody, AgentConfig):
    """Any fields of `AgentConfig`, in snake_case or camelCase; those that are left out stay as they are."""

    @field_validator("*", mode="before")
    @classmethod
    def _read_whole_number(cls, value: object) -> object:
        """JSON has one kind of number: 6.0 is 6."""
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @property
    def given(self) -> dict[str, int]:
        """The fields that the request has set."""
        return self.model_dump(exclude_unset=True)


class ClientToolBody(RequestBody):
    """A tool that the client runs itself."""

    name: str = Field(description="The name the model calls: 1 to 64 letters, digits, `_` and `-`.")
    description: str = Field(default="", description="Shown to the model; up to 4,000 characters.")
    input_schema: dict[str, Any] = Field(
        default_factory=dict, description="JSON schema of the arguments (an object); up to 16,000 bytes."
    )


class AttachmentBody(RequestBody):
    """A file beside the question: one that was uploaded, or its bytes."""

    id: Name | None = Field(default=None, description="The id of a file uploaded with `POST /api/attachments`.")
    name: Name | None = Field(
        default=None, description="The name that people and the model see. The type is detected from the content."
    )
    data: str | None = Field(default=None, description="The file's bytes in base64, instead of `id`.")


class QueryRequest(RequestBody):
    """A question, and how it is to be answered."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "How does the login work?", "limits": {"max_iterations": 5}}]},
    )

    question: Annotated[str, AfterValidator(_without_nul)] = Field(
        min_length=1, max_length=LONGEST_QUESTION, description="What is asked."
    )
    context_id: str | None = Field(
        default=None, description="The conversation to continue; leave it out to begin a new one."
    )
    project_id: Name | None = Field(default=None, description="A label of a new conversation.")
    model: Name | None = Field(default=None, description="The model that answers.")
    tree: Name | None = Field(default=None, description="The name of the tree that controls the run.")
    limits: Limits = Field(default_factory=Limits, description="Limits for this run only.")
    tools: list[ClientToolBody] = Field(
        default_factory=list,
        max_length=MOST_TOOLS,
        description="Tools that the client runs. A call of one arrives as a `question` with `tool_call_id`.",
    )
    attachments: list[AttachmentBody] = Field(
        default_factory=list, max_length=MOST_ATTACHMENTS, description="Pictures, PDF and text files."
    )
    response_format: dict[str, Any] | None = Field(
        default=None,
        description='`{"type": "json_schema", "schema": {...}}`: the answer is only JSON that matches the schema.',
    )

    @property
    def of_features(self) -> dict[str, Any]:
        """The given fields that features read (`oracle.server.api.fields`)."""
        return {name: value for name in _OF_FEATURES if (value := getattr(self, name))}


Text = Annotated[str, AfterValidator(_without_nul), AfterValidator(_whole_characters)]
TreeName = Annotated[str, Field(pattern="^[a-z][a-z0-9_-]{0,59}$")]
Sha = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
NodePath = Annotated[Text, Field(min_length=1, max_length=20_000)]
Note = Annotated[str, Field(max_length=2_000), AfterValidator(_without_nul), AfterValidator(_whole_characters)]


class TreeVersionNow(RequestBody):
    """The version that an edit was made from."""

    version: Sha | None = Field(description="The `version` of the tree you edited; null for a new tree.")
    note: Note | None = Field(default=None, description="Why you made the change; kept with the version.")


class TreeSave(TreeVersionNow):
    """A text of a tree."""

    source: Text = Field(description="The whole text of the file; it is saved unchanged.")


class TreeFile(RequestBody):
    """A text of a tree's file."""

    source: Text = Field(description="The whole text of a tree file.")
    name: TreeName | None = Field(
        default=None, description="The name of the tree; the trees that include it are checked too."
    )


class TreeWithText(RequestBody):
    """A text of a tree that exists."""

    name: TreeName = Field(description="The tree.")
    source: Text = Field(description="The whole text of the file.")


class TreePresent(RequestBody):
    """A tree that exists, and perhaps another text of it."""

    name: TreeName = Field(description="The tree.")
    source: Text | None = Field(default=None, description="The whole text of the file; by default the current text.")


class TreeReplay(TreeWithText):
    """A text of a tree, and how many recorded queries it is tried on."""

    runs: int = Field(default=20, ge=1, le=1_000, description="Use the latest N runs of each affected tree.")
    run_id: Name | None = Field(default=None, description="Only this run.")


class TitleChange(RequestBody):
    """Another title."""

    title: Title


class ForkRequest(RequestBody):
    """Where a conversation is to go on otherwise."""

    before_run: Name | None = Field(
        default=None, description="The run whose question is asked again; by default the whole conversation is copied."
    )


class DebugSimple(RequestBody):
    """A command that says all by its name."""

    command: Literal["pause", "resume", "step", "renew"] = Field(
        description="Pause after the next tick; resume; run one tick; stay paused for another lease."
    )


class DebugSet(RequestBody):
    """Change a blackboard value of a paused run."""

    command: Literal["set"]
    key: Name = Field(description="A key that trees may write.")
    value: Any = Field(description="JSON data of the key's type; set at the next tick.")


class DebugForce(RequestBody):
    """Force the result of a node of a paused run."""

    command: Literal["force"]
    path: NodePath = Field(description="Of the node.")
    result: ForcedResult = Field(description="The status it returns instead of being ticked the next time.")


DebugRequest = Annotated[DebugSimple | DebugSet | DebugForce, Body(discriminator="command")]


class BreakpointNew(RequestBody):
    """Where runs are to be paused; all that is given must hold."""

    kind: BreakpointKind = Field(
        description="`start`: before the first tick; `node`: before the node at `path` runs, if `expression` is "
        "true or not given; `condition`: when it becomes true; `error`: when any node raises, or the one at `path`."
    )
    tree: Name | None = Field(default=None, description="Only runs of this tree.")
    run_id: Name | None = Field(default=None, description="Only this run.")
    user_id: Name | None = Field(default=None, description="Only runs of this user.")
    path: NodePath | None = Field(default=None, description="The path of a node of the tree or of the run's tree.")
    expression: Annotated[Text, Field(min_length=1, max_length=500)] | None = Field(
        default=None, description="An expression over the blackboard, as in tree files."
    )
    enabled: bool = True


class BreakpointChange(RequestBody):
    """Turns a breakpoint on or off."""

    enabled: bool


HEADER = "Idempotency-Key"
LONGEST_KEY = 200

KeyHeader = Annotated[
    str | None,
    Header(
        alias=HEADER,
        description="A unique name for this request, so that you can send it again safely; kept for 24 hours.",
        json_schema_extra={"minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[ -~]+$"},
    ),
]
"""The header as `/openapi.json` describes it; `key_of` reads and checks it."""


def key_of(request: Request, user_id: str, body: QueryRequest, *, is_detached: bool = False) -> RequestKey | None:
    """The idempotency key of a request; `None` if it has none.

    Args:
        request: the request that may have the header.
        user_id: its user; keys of different users never meet.
        body: the question; one key belongs to one body.
        is_detached: its run needs no reader.

    Raises:
        UserError: the header is not a valid key.
    """
    given = request.headers.getlist(HEADER)
    if not given:
        return None
    key = given[0]
    if len(given) > 1 or not 1 <= len(key) <= LONGEST_KEY or not (key.isascii() and key.isprintable()):
        raise UserError(
            f"{HEADER} must be one header of 1-{LONGEST_KEY} printable ASCII characters, different for each request, "
            f"such as a UUID",
            loc=("header", HEADER),
            value=", ".join(given),
        )
    asked = body.model_dump(exclude={"limits"}) | {"limits": body.limits.given}
    return RequestKey(_digest([user_id, key]), _digest(asked | {"detached": True} if is_detached else asked))


def _digest(value: object) -> str:
    return hashlib.sha256(to_json(value)).hexdigest()
