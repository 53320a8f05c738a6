"""The store: one append-only event log, runs, conversations, settings; on SQLite or PostgreSQL.

`open_store` opens it. One thread writes, in order and in groups; nothing is announced before its commit.
"""

from oracle.storage.archive import Archive, open_archive
from oracle.storage.breakpoints import Breakpoint, BreakpointKind, Breakpoints, TooManyBreakpointsError
from oracle.storage.commands import Commands
from oracle.storage.conversation_pages import ConversationPage, ConversationSummary, LiveQuestion, StoredMessage
from oracle.storage.conversations import StoredConversations
from oracle.storage.database import Database
from oracle.storage.errors import (
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
from oracle.storage.health import StoreHealth
from oracle.storage.log import EventLog, LogWatch, RunLog
from oracle.storage.prompts import Prompts
from oracle.storage.records import (
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
from oracle.storage.request_keys import RequestKeys
from oracle.storage.retention import Pruned, Retention
from oracle.storage.run_pages import RunCounts, RunFilter, RunOfVersion, RunPage
from oracle.storage.runs import RunTable
from oracle.storage.shadow_pairs import (
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
from oracle.storage.store import Store, open_store
from oracle.storage.trees import (
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
from oracle.storage.user_settings import UserSettings
from oracle.storage.writer import CommitFigures

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
