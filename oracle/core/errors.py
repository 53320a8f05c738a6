"""The root of all errors of this package, and its branches by who must act.

```
OracleError
├── UserError               the user, or the client: ask for something else, or ask later
│   ├── ClientToolError         a tool that a client brings cannot be offered
│   ├── FileError               a file cannot be attached to a question
│   ├── ConfigError             a limit is unknown or out of bounds
│   ├── UnauthorizedError       no valid bearer token
│   ├── BadTokenError           a token that names a user is not valid
│   ├── NamingError             a chat backend names no user, or another client names one
│   ├── NotFoundError           what the user names is not there, or is another user's
│   │   └── UnknownConversationError
│   ├── UnclearRunError         no recorded run, or more than one, has an id that begins so
│   ├── UnreplayableError       a recorded run cannot be repeated
│   ├── DamagedHistoryError     a file is not an exported run, or was changed
│   ├── ForgottenRunError       the texts of the run were deleted
│   ├── ConversationBusyError   the conversation is answering another query
│   ├── SpentError              the user has spent as much as a day allows
│   ├── TooManyRunsError        the user has reached the number of concurrent runs
│   ├── TooManyPassesError      as many recorded runs are being explained as may be at a time
│   ├── WrongCommandError       a part of a debugger's command or breakpoint is wrong
│   ├── DebugRefusedError       the run cannot be debugged so, as it stands
│   ├── AnswerError             what a person answers a run with is refused
│   │   └── NotOpenError            it has expired, or the run does not wait for it any more
│   ├── KeyReusedError          an idempotency key was sent with another request
│   └── TreeConflictError       an edit of a tree that was not made from the present version
├── OperatorError           whoever runs the service: settings, folders, ports, the database
│   ├── SettingsError
│   ├── PluginError             what another package adds cannot be loaded, or claims a name that is taken
│   ├── FeatureError            a feature cannot be loaded, or is left out and another one needs it
│   ├── DomainError             a domain cannot be used; the message has the places
│   ├── ToolSetupError          the project, the vault or the MCP servers cannot be used
│   ├── MissingEncoderError     a package or a file that the encoder needs is not there
│   ├── CorruptEncoderError     the encoder's files are not what they must be
│   ├── StoreSetupError         the database cannot be used as configured
│   ├── StoreUnavailableError   the database cannot be read or written at the moment
│   ├── StoreTroubleError       the same, as seen by the thread that writes
│   ├── RefusedReceiverError    webhooks may not be sent to this host
│   └── TreeFolderError         the folder of trees cannot be read or written
├── TreeAuthorError         the author of a tree or of a decision tree in Python
│   ├── DecisionTreeError       a hook returned something that its protocol does not allow, or raised
│   ├── TreeRefusedError        a text of a tree that would bring mistakes
│   ├── RenameError             a name in a tree file cannot be changed
│   ├── PlayError               a scenario cannot be played
│   │   └── EndlessError            the run of a scenario does not end
│   ├── ScenarioFileError       a scenario file has mistakes
│   └── HostError               a tree asked for something that the agent does not have
├── ToolDefinitionError     the author of a tool: a function cannot become a tool, or two tools share a name
├── UpstreamError           the model, or its provider
│   ├── AttemptFailedError      one attempt at a request has failed, which may be repeated
│   ├── ModelError              the provider failed; `fault` has the details
│   │   └── ScriptEndedError        a scripted model was asked for more turns than it has
│   └── ToolError               the model called a tool in a way that cannot be answered; it reads the message
└── InternalError           us: handled inside, or a defect
    ├── RunLostError            another worker has taken the run over
    ├── RunBrokenError          a part of the run can never be written
    ├── FallenBehindError       a reader of a run that is being explained was too slow
    ├── AlreadyBegunError       an earlier request has begun the run
    ├── ConversationMovedError  another question of a client's conversation was begun since it was looked up
    └── NotContinuedError       what is repeated of a run is not what was recorded
```

Each room defines its own leaves. `StorageError` is a second base of those that the store raises. The rooms that do not
depend on this package have trees of their own: `bt_runtime.BTError`, `prompts.PromptError` and
`signals.SignalError`.

There is a class for what a caller of ours tells apart, or what has facts of its own; every other error is one of its
branch. Each says itself what a caller is answered: a status, a text, the place in the request, when to come back. The
command line exits with 1 for every branch but `InternalError`, which keeps its traceback.
"""

import logging
from collections.abc import Sequence
from typing import TypedDict, Unpack


class AnswerFields(TypedDict, total=False):
    """The attributes that an error may set in place of its class."""

    status: int
    detail: str | None
    loc: Sequence[str | int]
    value: object
    log_level: int


class OracleError(Exception):
    """Root of the errors of this package. The answer to the caller is defined on the class, or on the error."""

    def __init__(self, message: str = "", **answered: Unpack[AnswerFields]) -> None:
        super().__init__(message)
        vars(self).update(answered)

    status: int | None = None
    """The HTTP status; `None`: a defect, answered with 500 and logged with its traceback."""
    detail: str | None = None
    """What a caller reads; `None`: the error's own message."""
    loc: Sequence[str | int] = ("body",)
    """The part of the request that is wrong (status 422)."""
    value: object = None
    """What was given there."""
    column: int | None = None
    """Of the mistake in that value, from 1; `None`: not known."""
    parts: Sequence[tuple[Sequence[str | int], str]] = ()
    """Several mistakes of a request, each with its `loc`, in place of the error's own."""
    retry_after_s: int = 5
    """When to come back (status 429 and 503)."""
    log_event: str | None = None
    """By which the message is logged for the operator; `None`: not at all."""
    log_level: int = logging.ERROR


class UserError(OracleError):
    """A request that cannot be served as it is; the message says what would be right."""

    status = 422


class NotFoundError(UserError):
    """What the user names is not there, or is another user's."""

    status = 404


class OperatorError(OracleError):
    """The service or a part of it cannot work as configured; the message is for the operator."""

    status = 503
    detail: str | None = "The service cannot do this for now; the operator finds the reason in the log."
    log_event = "request.refused"


class TreeAuthorError(OracleError):
    """A tree, or a decision tree in Python, does something that it must not."""

    status = 422
    detail = "this tree has mistakes and cannot be run; they are in the log"
    loc = ("body", "tree")
    log_event = "tree.refused"


class ToolDefinitionError(OracleError):
    """A function or a set of tools is not well defined; the message is written for the tool author."""


class UpstreamError(OracleError):
    """The model or its provider failed."""


class InternalError(OracleError):
    """A condition that is handled inside the package, or a defect."""
