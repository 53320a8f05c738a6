"""The store: one append-only event log, runs, conversations, settings; on SQLite or PostgreSQL.

`open_store` opens it. One thread writes, in order and in groups; nothing is announced before its commit.
"""

from oracle.runs.storage.archive import Archive, open_archive
from oracle.runs.storage.breakpoints import Breakpoint, BreakpointKind, Breakpoints, TooManyBreakpointsError
from oracle.runs.storage.commands import Commands
from oracle.runs.storage.conversation_pages import ConversationPage, ConversationSummary, LiveQuestion, StoredMessage
from oracle.runs.storage.conversations import StoredConversations
from oracle.runs.storage.database import Database
from oracle.runs.storage.errors import (
    AlreadyBegunError,
    ConversationBusyError,
    KeyReusedError,
    RunBrokenError,
    RunLostError,
    StorageError,
    StoreSetupError,
    StoreUnavailableError,
    TooManyRunsError,
    UnclearRunError,
)
from oracle.runs.storage.health import StoreHealth
from oracle.runs.storage.log import EventLog, LogWatch, RunLog
from oracle.runs.storage.prompts import Prompts
from oracle.runs.storage.records import (
    MOST_SPANS,
    ChunkPage,
    EventKind,
    Kept,
    LogEntry,
    NewRun,
    RequestKey,
    RunCommand,
    RunEnd,
    RunRecord,
    RunStatus,
    RunSummary,
    Span,
    SpanKind,
    StoredChunk,
)
from oracle.runs.storage.request_keys import RequestKeys
from oracle.runs.storage.retention import Pruned, Retention
from oracle.runs.storage.run_pages import RunCounts, RunFilter, RunOfVersion, RunPage
from oracle.runs.storage.runs import RunTable
from oracle.runs.storage.shadow_pairs import (
    Decision,
    DecisionKind,
    PairFigures,
    PairFilter,
    PairParting,
    PairState,
    ShadowPair,
    ShadowPairs,
    SideFigures,
)
from oracle.runs.storage.store import Store, open_store
from oracle.runs.storage.trees import (
    EditFigures,
    EditKind,
    NewEdit,
    TreeEdit,
    TreeEdits,
    TreeTrial,
    TreeTrials,
    TreeVersion,
    TreeVersions,
    TrialKind,
)
from oracle.runs.storage.user_settings import UserSettings
from oracle.runs.storage.writer import CommitFigures

__all__ = [
    "MOST_SPANS",
    "AlreadyBegunError",
    "Archive",
    "Breakpoint",
    "BreakpointKind",
    "Breakpoints",
    "ChunkPage",
    "Commands",
    "CommitFigures",
    "ConversationBusyError",
    "ConversationPage",
    "ConversationSummary",
    "Database",
    "Decision",
    "DecisionKind",
    "EditFigures",
    "EditKind",
    "EventKind",
    "EventLog",
    "Kept",
    "KeyReusedError",
    "LiveQuestion",
    "LogEntry",
    "LogWatch",
    "NewEdit",
    "NewRun",
    "PairFigures",
    "PairFilter",
    "PairParting",
    "PairState",
    "Prompts",
    "Pruned",
    "RequestKey",
    "RequestKeys",
    "Retention",
    "RunBrokenError",
    "RunCommand",
    "RunCounts",
    "RunEnd",
    "RunFilter",
    "RunLog",
    "RunLostError",
    "RunOfVersion",
    "RunPage",
    "RunRecord",
    "RunStatus",
    "RunSummary",
    "RunTable",
    "ShadowPair",
    "ShadowPairs",
    "SideFigures",
    "Span",
    "SpanKind",
    "StorageError",
    "Store",
    "StoreHealth",
    "StoreSetupError",
    "StoreUnavailableError",
    "StoredChunk",
    "StoredConversations",
    "StoredMessage",
    "TooManyBreakpointsError",
    "TooManyRunsError",
    "TreeEdit",
    "TreeEdits",
    "TreeTrial",
    "TreeTrials",
    "TreeVersion",
    "TreeVersions",
    "TrialKind",
    "UnclearRunError",
    "UserSettings",
    "open_archive",
    "open_store",
]
