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


def index_where(name: str, condition: str, *columns: str, unique: bool = False) -> Index:
    """An index of the rows that meet a condition; PostgreSQL says the same before it makes tables."""
    return Index(name, *columns, unique=unique, sqlite_where=text(condition))


_MAY_GO = "status = 'finished' AND forgotten_at IS NULL"
KINDS = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")
USAGE = ("user_id", "model_used", "turns", "tokens_used", "tokens_estimated", *KINDS, "cache_miss")
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
    Column("summary", Json),  # a RunSummary, written with the end
    Column("node_errors", Integer),  # of the summary, for filters
    Column("texts_dropped_at", Double),  # when retention deleted its texts and kept the figures of its log
    Column("shadow_of", String(64)),  # the run that it shadows; none for what a user has asked
    Column("parked_at", Double),  # when it began to wait for people, the last time
    Column("attempts", Integer, nullable=False, server_default="0"),  # claims since a turn or a call has ended
    Column("progress_seq", Integer, nullable=False, server_default="0"),  # of the last such end, at the last claim
    Column("turn", Integer, nullable=False, server_default="0"),  # among those that wait; users take turns
    Column("wake_at", Double),  # when a parked run goes on by itself; none: only when it is woken
    # The tokens of `tokens_used` by kind, and those read from the provider's cache.
    Column("input_tokens", BigInteger),
    Column("cache_creation_tokens", BigInteger),
    Column("cache_read_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("feedback", Json),  # a Feedback: its user's, the latest one
    Column("cache_miss", String(32)),  # a CacheMiss: the commonest of its turns
    # The order of runs with all that lists filter by, so that no row is read for that.
    Index("run_figures", "n", "user_id", *_FIGURES),
    Index("run_of_user", "user_id", "n", *_FIGURES),
    Index("run_of_conversation", "context_id"),
    index_where("one_run_of_a_conversation_at_a_time", "status <> 'finished'", "context_id", unique=True),
    index_where("running_runs_of_user", "status = 'running'", "user_id"),
    index_where("runs_that_may_go", _MAY_GO, "finished_at", "id"),
    index_where(
        "half_dropped_runs", "texts_dropped_at IS NOT NULL AND answer IS NOT NULL AND forgotten_at IS NULL", "id"
    ),
    index_where("texts_that_may_go", f"{_MAY_GO} AND texts_dropped_at IS NULL", "finished_at", "id"),
    index_where("runs_of_worker", "status = 'running'", "worker"),
    index_where("queued_runs", "status = 'queued'", "turn", "n", "user_id"),
    index_where("parked_runs", "status = 'parked'", "wake_at"),
    # All that is added up of a day, so that no row is read for that.
    index_where("usage_of_runs", "status = 'finished' AND shadow_of IS NULL", "finished_at", *USAGE),
    index_where("rated_runs", "feedback IS NOT NULL", "n"),
    index_where("shadows_of_runs", "shadow_of IS NOT NULL", "shadow_of"),
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
