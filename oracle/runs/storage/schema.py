"""The tables of runs, conversations and their log. Those of features are in the modules of the features.

Rules:

- Texts of users, models and tools are kept as JSON text (`Json`), as PostgreSQL takes no NUL in a text.
- Times are seconds since the epoch, UTC.
- A change of any table needs another number of the migration in `migrations/versions`, which makes the tables.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Double,
    Index,
    Integer,
    MetaData,
    Sequence,
    String,
    Table,
    Text,
    TypeDecorator,
    text,
)

from oracle.core.encoding import from_json, to_json

metadata = MetaData()
Sequence("order_of_use", metadata=metadata)  # numbers runs and conversations; in SQLite the one writer counts


class Json(TypeDecorator[Any]):
    """JSON data, kept as text; `None` is NULL. `type_coerce(column, Text)` has the text itself."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, _dialect: Dialect) -> str | None:  # noqa: ANN401  JSON data
        """The text."""
        return None if value is None else to_json(value).decode()

    def process_result_value(self, value: str | None, _dialect: Dialect) -> Any:  # noqa: ANN401
        """The data behind the text."""
        return None if value is None else from_json(value)


class EncodedJson(TypeDecorator[bytes]):
    """JSON as bytes, encoded by the caller and returned as it is stored."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: bytes | None, _dialect: Dialect) -> str | None:
        """The text."""
        return None if value is None else value.decode()

    def process_result_value(self, value: str | None, _dialect: Dialect) -> bytes | None:
        """The text as bytes."""
        return None if value is None else value.encode()


_OPEN = text("status <> 'finished'")
_RUNNING = text("status = 'running'")
_PENDING = text("status = 'pending'")
_QUEUED = text("status = 'queued'")
_PARKED = text("status = 'parked'")
_MAY_GO = text("status = 'finished' AND forgotten_at IS NULL")
_HALF_DROPPED = text("texts_dropped_at IS NOT NULL AND answer IS NOT NULL AND forgotten_at IS NULL")
_TEXTS_MAY_GO = text("status = 'finished' AND forgotten_at IS NULL AND texts_dropped_at IS NULL")
_IS_SHADOW = text("shadow_of IS NOT NULL")
_IS_USAGE = text("status = 'finished' AND shadow_of IS NULL")
KINDS = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")
USAGE = ("user_id", "model_used", "turns", "tokens_used", "tokens_estimated", *KINDS)
_IS_RATED = text("feedback IS NOT NULL")
_FIGURES = (
    *("id", "context_id", "tree", "tree_sha", "status", "termination_reason"),
    *("created_at", "finished_at", "node_errors", "shadow_of"),
)

run = Table(
    "run",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("user_id", String(255), nullable=False),
    Column("context_id", String(64), nullable=False),
    Column("worker", String(64), nullable=False),  # that answers it, or was the last to
    Column("epoch", Integer, nullable=False),  # +1 with each worker; writes of an older one are refused
    Column("tree", String(255), nullable=False),
    Column("tree_sha", String(64)),  # names a row of tree_version; none under the plain loop
    Column("input", Json, nullable=False),  # the request as it was accepted
    Column("limits", Json, nullable=False),  # the AgentConfig in force
    Column("status", String(16), nullable=False),  # see RunStatus
    Column("termination_reason", String(32)),
    Column("answer", Json),  # a string
    Column("error", Json),  # {error, error_type, cause?, detail?} of the last error chunk
    Column("turns", Integer),
    Column("tokens_used", BigInteger),
    Column("tokens_estimated", Boolean),
    Column("model_used", String(255)),
    Column("created_at", Double, nullable=False),
    Column("deadline_at", Double, nullable=False),
    Column("finished_at", Double),
    Column("forgotten_at", Double),  # when its texts were deleted, by the user or by retention
    Column("n", BigInteger, nullable=False),  # the order in which runs started, independent of clocks
    Column("summary", Json),  # a RunSummary, written with the end; none for runs of older versions
    Column("node_errors", Integer),  # of the summary, for filters
    Column("texts_dropped_at", Double),  # when retention deleted its texts and kept the figures of its log
    Column("shadow_of", String(64)),  # the run that it shadows; none for what a user has asked
    Column("parked_at", Double),  # when it began to wait for people, the last time
    Column("attempts", Integer, nullable=False, server_default="0"),  # claims since a turn or a call has ended
    Column("progress_seq", Integer, nullable=False, server_default="0"),  # of the last such end, at the last claim
    Column("turn", Integer, nullable=False, server_default="0"),  # among those that wait; users take turns
    Column("wake_at", Double),  # when a parked run goes on by itself; none: only when it is woken
    # The tokens of `tokens_used` by kind, and those read from the provider's cache; none in rows of older versions.
    Column("input_tokens", BigInteger),
    Column("cache_creation_tokens", BigInteger),
    Column("cache_read_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("feedback", Json),  # a Feedback: its user's, the latest one
    # The order of runs with all that lists filter by, so that no row is read for that.
    Index("run_figures", "n", "user_id", *_FIGURES),
    Index("run_of_user", "user_id", "n", *_FIGURES),
    Index("run_of_conversation", "context_id"),
    Index(
        "one_run_of_a_conversation_at_a_time",
        "context_id",
        unique=True,
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    ),
    Index("running_runs_of_user", "user_id", sqlite_where=_RUNNING, postgresql_where=_RUNNING),
    Index("runs_that_may_go", "finished_at", "id", sqlite_where=_MAY_GO, postgresql_where=_MAY_GO),
    Index("half_dropped_runs", "id", sqlite_where=_HALF_DROPPED, postgresql_where=_HALF_DROPPED),
    Index("texts_that_may_go", "finished_at", "id", sqlite_where=_TEXTS_MAY_GO, postgresql_where=_TEXTS_MAY_GO),
    Index("runs_of_worker", "worker", sqlite_where=_RUNNING, postgresql_where=_RUNNING),
    Index("queued_runs", "turn", "n", "user_id", sqlite_where=_QUEUED, postgresql_where=_QUEUED),
    Index("parked_runs", "wake_at", sqlite_where=_PARKED, postgresql_where=_PARKED),
    # All that is added up of a day, so that no row is read for that.
    Index("usage_of_runs", "finished_at", *USAGE, sqlite_where=_IS_USAGE, postgresql_where=_IS_USAGE),
    Index("rated_runs", "n", sqlite_where=_IS_RATED, postgresql_where=_IS_RATED),
    Index("shadows_of_runs", "shadow_of", sqlite_where=_IS_SHADOW, postgresql_where=_IS_SHADOW),
)

worker = Table(
    "worker",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("beat_at", Double, nullable=False),  # its last heartbeat
    Column("has_lock", Boolean, nullable=False),  # its listening connection holds its lock: a free one means its death
)

event = Table(
    "event",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("seq", Integer, primary_key=True),  # 1, 2, 3, … of everything
    Column("kind", String(16), nullable=False),  # see EventKind
    Column("chunk_n", Integer),  # 1, 2, 3, … of the chunks: the id of the SSE event
    Column("step_key", String(512)),  # the request whose outcome this is
    Column("data", EncodedJson, nullable=False),
    Column("at", Double, nullable=False),
)
"""Without an index on `chunk_n`: chunks are in the order of `seq`, and a chunk's number is never greater than it."""

command = Table(
    "command",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("run_id", String(64), nullable=False, index=True),
    Column("kind", String(32), nullable=False),  # cancel | cancel_unread | answers | debug | breakpoints | reader_…
    Column("data", Json, nullable=False),
    Column("at", Double, nullable=False),
)

request_key = Table(
    "request_key",
    metadata,
    Column("id", String(64), primary_key=True),  # a digest of the user's id and of the client's key
    Column("run_id", String(64), nullable=False, index=True),
    Column("body", String(64), nullable=False),  # a digest of the request; empty when its texts have been deleted
    Column("at", Double, nullable=False, index=True),
)

client_run = Table(
    "client_run",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("key", String(64), nullable=False),  # a digest of user, protocol, and the client's name of the conversation
    Column("n", Integer, nullable=False),  # 1, 2, 3, … of the key
    Column("said", String(64), nullable=False),  # a digest of what was said, up to and with the question
    Index("client_runs_in_order", "key", "n", unique=True),
    Index("client_runs_by_text", "key", "said"),
)

interrupt = Table(
    "interrupt",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("id", String(255), primary_key=True),
    Column("user_id", String(255), nullable=False),  # of the run
    Column("context_id", String(64), nullable=False),
    Column("reason", String(32), nullable=False),  # tool_call | input_required | confirmation
    Column("status", String(16), nullable=False),  # `data` keeps `pending`
    Column("data", Json, nullable=False),  # the interrupt as its chunk has it
    Column("at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),  # also of one that names no time: nothing waits without an end
    Column("answer", Json),  # what is delivered to the run; none while it is pending
    Column("answered_by", String(255)),
    Column("answered_at", Double),
    # In the order in which they expire, which is that of lists.
    Index("pending_of_user", "user_id", "expires_at", sqlite_where=_PENDING, postgresql_where=_PENDING),
    Index("pending_by_expiry", "expires_at", sqlite_where=_PENDING, postgresql_where=_PENDING),
)

grant_ = Table(
    "grant_",  # `grant` is a word of SQL
    metadata,
    Column("id", String(64), primary_key=True),
    Column("user_id", String(255), nullable=False),  # of the conversation
    Column("context_id", String(64), nullable=False),
    Column("action", String(255), nullable=False),  # the tool that needs no approval
    Column("by", String(255), nullable=False),
    Column("at", Double, nullable=False),
    Index("grants_of_user", "user_id", "at"),
    Index("one_grant_of_an_action", "context_id", "action", unique=True),
)

prompt = Table(
    "prompt",
    metadata,
    Column("sha", String(64), primary_key=True),  # of the text
    Column("text", Json, nullable=False),  # a string: a system prompt as the model got it
)

prompt_use = Table(
    "prompt_use",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("sha", String(64), primary_key=True, index=True),  # names a row of prompt
)

tree_version = Table(
    "tree_version",
    metadata,
    Column("sha", String(64), primary_key=True),
    Column("name", String(255), nullable=False),
    Column("nodes", Json, nullable=False),  # paths of the nodes, by the index that tick records use
    Column("source", Json, nullable=False),  # the text of the tree's files, by name
    Column("at", Double, nullable=False),
)

tree_text = Table(
    "tree_text",
    metadata,
    Column("sha", String(64), primary_key=True),  # of the file's bytes
    Column("text", Json, nullable=False),  # a string
    Column("size", Integer, nullable=False),  # bytes
)

tree_edit = Table(
    "tree_edit",
    metadata,
    Column("n", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("name", String(64), nullable=False),  # of the tree
    Column("sha", String(64), nullable=False),  # names a row of tree_text
    Column("how", String(16), nullable=False),  # saved | restored | file | shipped
    Column("user_id", String(255)),  # who saved it; none where the file has changed
    Column("note", Json),  # a string: why
    Column("at", Double, nullable=False),
    Index("edits_of_tree", "name", "n"),
)

tree_trial = Table(
    "tree_trial",
    metadata,
    Column("kind", String(16), primary_key=True),  # verified | tested
    Column("subject", String(64), primary_key=True),  # a digest of what was tried
    Column("data", Json, nullable=False),
    Column("at", Double, nullable=False),
    Index("tree_trials_by_time", "at"),
)

breakpoint_ = Table(
    "breakpoint",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("kind", String(16), nullable=False),  # see BreakpointKind
    Column("tree", String(255)),  # of the runs of this tree; none: of all trees
    Column("run_id", String(64)),  # of this run; none: of all runs
    Column("user_id", String(255)),  # of the runs of this user; none: of all users
    Column("path", Json),  # a string: of a node
    Column("expression", Json),  # a string
    Column("enabled", Boolean, nullable=False),
    Column("created_by", String(255), nullable=False),
    Column("at", Double, nullable=False),
)

conversation = Table(
    "conversation",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("user_id", String(255), nullable=False),
    Column("project_id", Json),  # a string
    Column("title", Json),  # a string: from the first question, or set by the user
    Column("state", Json, nullable=False),  # what the next query inherits (classification, had_tool_errors)
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("n", BigInteger, nullable=False),  # the order in which conversations were used, from the same numbers
    Index("conversation_of_user", "user_id", "n"),
    Index("conversations_in_order", "n"),
)

message = Table(
    "message",
    metadata,
    Column("conversation_id", String(64), primary_key=True),
    Column("n", Integer, primary_key=True),  # 1, 2, 3, …
    Column("role", String(16), nullable=False),
    Column("content", Json, nullable=False),  # a string
    Column("metadata", Json, nullable=False),
    Column("run_id", String(64), nullable=False),
    Column("at", String(40), nullable=False),  # ISO 8601, as clients get it
)

user_settings = Table(
    "user_settings",
    metadata,
    Column("user_id", String(255), primary_key=True),
    Column("data", Json, nullable=False),  # the fields that the user has set
    Column("revision", Integer, nullable=False),
    Column("at", Double, nullable=False),
)

_TO_BE_SENT = text("given_up_at IS NULL")

webhook = Table(
    "webhook",
    metadata,
    Column("id", String(64), primary_key=True),  # of the message, as its receiver gets it
    Column("url", Text, nullable=False),
    Column("body", EncodedJson, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("due_at", Double, nullable=False),  # for the next attempt
    Column("given_up_at", Double),
    Column("problem", Json),  # a string: of the last attempt
    Index("webhooks_to_be_sent", "due_at", sqlite_where=_TO_BE_SENT, postgresql_where=_TO_BE_SENT),
)

shadow_pair = Table(
    "shadow_pair",
    metadata,
    Column("primary_id", String(64), primary_key=True),  # the run that the user saw
    Column("shadow_id", String(64)),  # the same question under the other control; none if it was dropped
    Column("tree", String(255), nullable=False),  # the name that the question gave
    Column("primary_control", String(255), nullable=False),  # `loop`, or a tree with its version
    Column("shadow_control", String(255), nullable=False),
    Column("state", String(16), nullable=False),  # running | finished | failed | dropped
    Column("why", String(32)),  # of one that failed or was dropped
    Column("disagreement", Double),  # how far the two are apart; only of finished ones
    Column("data", Json),  # figures of both, no texts
    Column("at", Double, nullable=False),
    Index("shadow_pairs_by_time", "at", "primary_id"),
    Index("shadow_pairs_by_disagreement", "disagreement", "primary_id"),
)

service_key = Table(
    "service_key",
    metadata,
    Column("name", String(64), primary_key=True),  # what it is for
    Column("key", String(64), nullable=False),  # hexadecimal
)

auxiliary_usage = Table(
    "auxiliary_usage",
    metadata,
    Column("day", Integer, primary_key=True, autoincrement=False),  # since the epoch, UTC
    Column("user_id", String(255), primary_key=True),
    Column("model", String(255), primary_key=True),
    *(Column(name, BigInteger, nullable=False) for name in ("requests", *KINDS)),
)
