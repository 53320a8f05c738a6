"""One shadow: from its primary's record to the figures of the pair.

It runs under the plain loop, a tree as it is now, or a recorded version of a tree.
"""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field, replace
from typing import Final

import structlog

from bt_runtime import (
    BTError,
    Clock,
    Registry,
    SystemClock,
    TreeDefinition,
    TreeFileError,
    TreeNotFoundError,
)
from bt_runtime.library.named import read_sources
from bt_runtime.text.data import dataclass
from oracle.agent.answering import ActiveQuery, Ask, Checked, Oracle
from oracle.agent.control.choosing import DEFAULT_TREE, Chosen, Controls, limits_of
from oracle.agent.conversations.protocol import Conversation, Exchange
from oracle.core.errors import OperatorError, OracleError
from oracle.core.metrics import Metrics
from oracle.decision import AgentConfig, make_decision_tree
from oracle.features.shadow.figures import Ledger, figures_of, shadow_tools
from oracle.features.shadow.pairs import PairFigures, PairState, ShadowPair
from oracle.features.shadow.report import pairs_of
from oracle.llm.protocol import Model
from oracle.runs.live import LiveRun
from oracle.runs.opening import Opener
from oracle.runs.options import RunOptions
from oracle.runs.record.events import ChunkSent, Opened, SignalRead, ToolFinished, TurnFinished
from oracle.runs.record.reading import read_record
from oracle.runs.record.record import Record
from oracle.runs.recorder import RunRecorder
from oracle.runs.storage.errors import StorageError, UnclearRunError
from oracle.runs.storage.records import EventKind, RunRecord
from oracle.runs.storage.store import Store

log = structlog.get_logger(__name__)


LOOP: Final = "loop"
_OF_LOOP: Final = "default"
"""The registered decision tree that drives the plain loop."""
_SHOWN: Final = 12
_VERSION: Final = re.compile(r"(?P<tree>[^@]+)@(?P<sha>[0-9a-f]{6,64})")


@dataclass(frozen=True, slots=True)
class ShadowControl:
    """What drives shadows.

    Args:
        name: under which their runs are recorded.
        choose: the control for a query with these limits.
        shadows: the name that a question must have given to be shadowed.
    """

    name: str
    choose: Callable[[AgentConfig], Chosen]
    shadows: str = DEFAULT_TREE


def label_of(tree: str, sha: str | None) -> str:
    """A control for people and for groups of pairs: `loop`, `oracle@3f2a91c07d55`, or a decision tree's name."""
    if sha is not None:
        return f"{tree}@{sha[:_SHOWN]}"
    return LOOP if tree in (DEFAULT_TREE, _OF_LOOP) else tree


async def shadow_control(wanted: str, *, controls: Controls, store: Store, registry: Registry) -> ShadowControl:
    """The control of that description.

    Args:
        wanted: `loop`, the name of a tree, or `tree@digest` with the first six digits or more of a version that a run
            has used.
        controls: the trees of the service.
        store: has the versions of trees that runs have used.
        registry: the kinds of nodes.

    Raises:
        OperatorError: there is no such control.
        UserError: there is no such tree.
        TreeFileError: the tree has mistakes.
        StoreUnavailableError: the database cannot be read at present.
    """
    if wanted == LOOP:
        return ShadowControl(_OF_LOOP, lambda config: make_decision_tree(_OF_LOOP, config))
    if (version := _VERSION.fullmatch(wanted)) is not None:
        tree = await _recorded(version["tree"], version["sha"], store=store, registry=registry)
        return ShadowControl(tree.name, lambda _: tree, shadows=tree.name)
    controls.choose(wanted, AgentConfig())
    return ShadowControl(wanted, lambda config: controls.choose(wanted, config))


async def _recorded(name: str, sha: str, *, store: Store, registry: Registry) -> TreeDefinition:
    version = await store.trees.find_alike(sha)
    if version is None or version.name != name:
        raise OperatorError(
            f"ORACLE_SHADOW_CONTROL names the version {sha!r} of {name!r}, which no recorded run has used, or more "
            "than one begins so; `oracle runs list` shows the versions that runs have used"
        )
    try:
        return read_sources(version.source, name=name, registry=registry)
    except (TreeFileError, TreeNotFoundError) as error:
        first = str(error).partition("\n")[0]
        raise OperatorError(f"the version {sha!r} of {name!r} cannot be read any more: {first}") from None


_KINDS: Final[frozenset[EventKind]] = frozenset(
    {Opened.kind, ChunkSent.kind, TurnFinished.kind, ToolFinished.kind, SignalRead.kind}
)
"""What is read of the logs of both."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What all shadows of a process have in common.

    Args:
        oracle: answers users; shadows have its trees, prompts and limits.
        model: answers shadows, with connections of its own.
        control: the tree or decision tree that drives shadows.
        store: has the runs, and keeps the pairs.
        new_id: makes ids of runs.
        clock: monotonic time.
        now: seconds since the epoch.
        metrics: of the steps of shadows, which are exposed nowhere: the times of users' runs stay their own.
    """

    oracle: Oracle
    model: Model
    control: ShadowControl
    store: Store
    new_id: Callable[[], str]
    clock: Clock = field(default_factory=SystemClock)
    now: Callable[[], float] = time.time
    metrics: Metrics = field(default_factory=Metrics)

    def token_budget(self, primary: RunRecord) -> int:
        """The most tokens that the shadow of a run may use: as many as its primary might have used."""
        return int(primary.limits["token_budget"])

    def label(self) -> str:
        """The control as it is now; its name alone if it cannot be loaded."""
        try:
            chosen = self.control.choose(AgentConfig())
        except (OracleError, BTError):  # a tree that is being edited
            return self.control.name
        return label_of(self.control.name, chosen.sha if isinstance(chosen, TreeDefinition) else None)

    def pair(self, primary: RunRecord, *, state: PairState, why: str = "") -> ShadowPair:
        """A new pair of a run, without its shadow."""
        return ShadowPair(
            primary_id=primary.id,
            tree=primary.tree,
            primary_control=label_of(primary.tree, primary.tree_sha),
            shadow_control=self.label(),
            state=state,
            at=self.now(),
            why=why,
        )


@dataclass(frozen=True, slots=True)
class BorrowedConversation:
    """A conversation as it was before a run (`oracle.agent.conversations.protocol.Conversations`).

    Args:
        conversation: with the messages before the run, and what its question inherited.
    """

    conversation: Conversation

    async def create(self, user_id: str, *, project_id: str | None = None) -> Conversation:
        """The same: a shadow begins none."""
        return replace(self.conversation, user_id=user_id, project_id=project_id)

    async def load(self, user_id: str, context_id: str) -> Conversation | None:
        """The conversation, under the name of the shadow's own."""
        return replace(self.conversation, user_id=user_id, context_id=context_id)

    async def append(self, user_id: str, context_id: str, exchange: Exchange) -> None:
        """Keep nothing: the user sees only the primary."""


class Rehearsal:
    """The shadow of one run. `begin`, then `see_through`; `give_up` after any failure.

    Args:
        stage: where it runs.
        primary: the row of the run as it began.
    """

    def __init__(self, stage: Stage, primary: RunRecord) -> None:
        self.run_id = stage.new_id()
        self.error_type = ""
        self._stage = stage
        self._primary = primary
        self._ledger = Ledger()
        self._has_row = self._has_pair = False
        self._log = Record()
        self._live: LiveRun | None = None
        self._query: ActiveQuery | None = None
        self._recorder: RunRecorder | None = None

    @property
    def live(self) -> LiveRun:
        """The run, once `begin` has begun it."""
        assert self._live is not None, "`begin` comes first"  # noqa: S101
        return self._live

    async def begin(self) -> str:
        """Write its row, and open its query.

        Returns:
            Why there is no shadow, because its primary or its conversation was deleted; else an empty text.

        Raises:
            OracleError: it cannot be begun; `give_up`.
        """
        stage, store = self._stage, self._stage.store
        found = await store.runs.find(self._primary.id)
        if found is None or found.kept != "whole" or found.termination_reason is None:
            return "forgotten"
        self._primary = primary = found
        conversation = await store.conversations.before(primary.user_id, primary.context_id, primary.id)
        if conversation is None:
            return "forgotten"
        self._log = await read_record(store.log, primary.id, kinds=_KINDS)
        checked = self._checked()
        oracle = stage.oracle.beside(
            model=stage.model,
            conversations=BorrowedConversation(_with_inherited(conversation, self._log)),
            tools=shadow_tools(stage.oracle.tools_for(primary.user_id), self._log, self._ledger),
            clock=stage.clock,
        )
        opener = self._opener(oracle)
        trace = oracle.begin_trace(checked)
        new = replace(
            opener.new_run(checked, trace=trace, claims=(), metadata=None),
            shadow_of=primary.id,
            begins_conversation=False,
        )
        try:
            live = self._live = await opener.begin(new)
        except UnclearRunError:
            return "forgotten"
        self._has_row = True
        self._recorder = opener.recorder(live, started_s=stage.clock.now())
        tree = checked.tree
        label = label_of(self._stage.control.name, tree.sha if tree else None)
        pair = self._stage.pair(self._primary, state="running")
        await pairs_of(self._stage.store).add(replace(pair, shadow_id=self.run_id, shadow_control=label))
        self._has_pair = True
        self._query = await opener.open(checked, live, self._recorder, trace=trace)
        return ""

    async def see_through(self) -> tuple[PairFigures | None, str, int]:
        """Run it to its end, and keep the figures of the pair.

        Returns:
            The figures if it has ended by itself; what became of it; the tokens that it has used.

        Raises:
            OracleError: its end cannot be written; `give_up`.
            ValueError: a log is damaged; `give_up`.
        """
        assert self._query is not None, "opened by `begin`"  # noqa: S101
        assert self._recorder is not None, "opened by `begin`"  # noqa: S101
        store, live = self._stage.store, self.live
        done = await live.see_through(self._query, self._recorder)
        live.note_end()
        await live.settle()
        tokens = self._query.agent.state.tokens_used
        record = await store.runs.find(self.run_id)
        if done is None or record is None or record.kept != "whole":
            await self._settle("forgotten")
            return None, "forgotten", tokens
        self.error_type = str((record.error or {}).get("error_type") or "")
        if done.termination_reason == "user_cancelled":
            await self._settle("cancelled")
            return None, "cancelled", tokens
        shadow = await read_record(store.log, self.run_id, kinds=_KINDS)
        figures = figures_of(self._primary, record, (self._log, shadow), self._ledger, known=self._knows)
        await pairs_of(store).settle(self._primary.id, state="finished", figures=figures)
        log.info(
            "shadow.finished",
            run_id=self._primary.id,
            shadow_id=self.run_id,
            reason=done.termination_reason,
            similarity=figures.similarity,
            tokens=tokens,
        )
        return figures, "finished", tokens

    async def give_up(self, why: str) -> None:
        """Remove what there is of it, and note that it has failed; never raises an `OracleError`."""
        if self._recorder is not None:
            self._recorder.log.close()
        with suppress(StorageError):  # at the next start its row is ended from its log
            if self._has_row:
                await self._stage.store.runs.abandon(self.run_id)
            if self._has_pair:
                await self._settle(why)
            else:
                pair = self._stage.pair(self._primary, state="failed", why=why)
                await pairs_of(self._stage.store).add(pair)

    async def _settle(self, why: str) -> None:
        await pairs_of(self._stage.store).settle(self._primary.id, state="failed", why=why)

    def _checked(self) -> Checked:
        """The primary's question, within its limits."""
        primary, control = self._primary, self._stage.control
        config = AgentConfig.model_validate(primary.limits)
        chosen = control.choose(config)
        question = str(primary.input["question"])
        ask = Ask(
            question,
            user_id=primary.user_id,
            context_id=self.run_id,
            project_id=primary.input.get("project_id"),
            model=primary.input.get("model"),
            tree=control.name,
            run_id=self.run_id,
        )
        return Checked(ask, question, limits_of(chosen, config), chosen)

    def _knows(self, tool: str) -> bool:
        return self._stage.oracle.tools_for(self._primary.user_id).get(tool) is not None

    def _opener(self, oracle: Oracle) -> Opener:
        return Opener(
            oracle,
            self._stage.store,
            options=RunOptions(),
            metrics=self._stage.metrics,
            new_id=self._stage.new_id,
            clock=self._stage.clock,
            on_doubt=lambda new: log.warning("shadow.in_doubt", run_id=new.id),
        )


def _with_inherited(conversation: Conversation, primary: Record) -> Conversation:
    """The conversation with what the primary's question inherited from the one before it."""
    opened = primary.opened
    if opened is None:
        return conversation
    return replace(conversation, classification=opened.previous, had_tool_errors=opened.previous_errors)
