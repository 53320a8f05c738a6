"""The root of all errors of this package, and its branches by who must act.

```
OracleError
├── UserError               the user, or the client: ask for something else, or ask later
│   ├── QuestionError           the question is empty, too long, or not text
│   ├── ClientToolError         a tool that a client brings cannot be offered
│   ├── ConfigError             a limit is unknown or out of bounds
│   ├── InvalidRequestError     a value of an HTTP request that only the service can check
│   ├── UnauthorizedError       no valid bearer token
│   ├── BadTokenError           a token that names a user is not valid
│   ├── NamingError             a chat backend names no user, or who is none names one
│   ├── UnknownTreeError        no tree of this name may be used
│   ├── UnknownConversationError
│   ├── UnknownRunError
│   ├── UnknownSourceError      no run of the user's has cited such a source, or it is gone
│   ├── UnclearRunError         no recorded run, or more than one, has an id that begins so
│   ├── NothingRecordedError    no query is recorded that could be replayed on a tree
│   ├── UnscriptableError       a recorded run cannot be turned into a scenario
│   ├── UnreplayableError       a recorded run cannot be repeated
│   ├── UnrepeatableError       a tick of a recorded run cannot be repeated
│   ├── UnknownTickError        the run has no such tick
│   ├── DamagedHistoryError     a file is not an exported run, or was changed
│   ├── ForgottenRunError       the texts of the run were deleted
│   ├── ConversationBusyError   the conversation is answering another query
│   │   └── ConversationWaitsError  which waits for a person
│   ├── TooManyRunsError        the user has reached the number of concurrent runs
│   ├── TooManyPassesError      as many recorded runs are being explained as may be at a time
│   ├── TooManyBreakpointsError no more breakpoints can be kept
│   ├── WrongCommandError       a part of a debugger's command or breakpoint is wrong
│   ├── DebugRefusedError       the run cannot be debugged so, as it stands
│   ├── UnknownBreakpointError  there is no such breakpoint
│   ├── AnswerError             what a person answers a run with is refused
│   │   ├── NotYoursToAnswerError   another person must answer
│   │   ├── AnsweredBeforeError     somebody has answered otherwise
│   │   └── NotOpenError            it has expired, or the run does not wait for it any more
│   ├── UnknownGrantError       the user has given no such grant
│   ├── KeyReusedError          an idempotency key was sent with another request
│   ├── DrainingError           the service is stopping
│   ├── OverloadedError         the process is late, and takes no new queries for now
│   ├── NotOperatorError        only operators may do this
│   ├── NoSuchTreeError         there is no tree, or no version of it, of this name
│   ├── TreeConflictError       an edit of a tree that was not made from the present version
│   └── TrialError              a trial of a tree's text has no result
├── OperatorError           whoever runs the service: settings, folders, ports, the database
│   ├── SettingsError
│   ├── PluginError             what another package adds cannot be loaded, or claims a name that is taken
│   ├── ServingError            the address cannot be listened on
│   ├── ToolSetupError          the project, the vault or the MCP servers cannot be used
│   ├── EncoderError            the encoder cannot be used; heuristics answer alone
│   │   ├── MissingEncoderError     a package or a file that it needs is not there
│   │   └── CorruptEncoderError     its files are not what they must be
│   ├── TraceSetupError         traces cannot be exported as configured
│   ├── ShadowControlError      the control of shadow runs does not exist
│   ├── StoreSetupError         the database cannot be used as configured
│   ├── StoreUnavailableError   the database cannot be read or written at the moment
│   ├── StoreTroubleError       the same, as seen by the thread that writes
│   ├── RefusedReceiverError    webhooks may not be sent to this host
│   ├── ImportFolderError       an imported run cannot be kept
│   ├── PageNotBuiltError       the page of exported runs has not been built
│   └── TreeFolderError         the folder of trees cannot be read or written
├── TreeAuthorError         the author of a tree or of a decision tree in Python
│   ├── DecisionTreeError       a hook returned something else than its protocol says, or raised
│   ├── TreeRefusedError        a text of a tree that would bring mistakes
│   ├── RenameError             a name in a tree file cannot be changed
│   ├── PlayError               a scenario cannot be played
│   ├── ScenarioFileError       a scenario file has mistakes
│   └── HostError               a tree asked for something that the agent does not have
├── ToolAuthorError         the author of a tool
│   └── ToolDefinitionError     a function cannot become a tool, or two tools share a name
├── UpstreamError           the model, or its provider
│   ├── ModelError              the provider failed; `fault` has the details
│   │   └── ScriptEndedError        a scripted model was asked for more turns than it has
│   ├── EncodedAnswerError      the provider sent a compressed body
│   └── ToolError               the model called a tool in a way that cannot be answered; it reads the message
└── InternalError           us: handled inside, or a defect
    ├── RunLostError            another worker has taken the run over
    ├── RunBrokenError          a part of the run can never be written
    ├── FallenBehindError       a reader of a run that is being explained was too slow
    ├── AlreadyBegunError       an earlier request has begun the run
    ├── ConversationMovedError  another question of a client's conversation was begun since it was looked up
    ├── NotContinuedError       what is repeated of a run is not what was recorded
    ├── UnendedError            a query ended without its last chunk
    └── AbandonedError          nothing waits for the result of a tool call any more
```

Each room defines its own leaves. `StorageError` is a second base of those that the store raises. The rooms that do not
depend on this package have trees of their own: `bt_runtime.BTError`, `prompts.PromptError` and
`signals.SignalError`.

`oracle.server.api.errors` has the table of HTTP status codes by class. The command line exits with 1 for every branch
but `InternalError`, which keeps its traceback.
"""


class OracleError(Exception):
    """Root of the errors of this package."""


class UserError(OracleError):
    """A request that cannot be served as it is; the message says what would be right."""


class OperatorError(OracleError):
    """The service or a part of it cannot work as configured; the message is for the operator."""


class TreeAuthorError(OracleError):
    """A tree, or a decision tree in Python, does something that it must not."""


class ToolAuthorError(OracleError):
    """A tool is not well defined."""


class UpstreamError(OracleError):
    """The model or its provider failed."""


class InternalError(OracleError):
    """A condition that is handled inside the package, or a defect."""
