"""Opens a run: its row, which takes the conversation; its recorder; its query."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from functools import partial

from bt_runtime import Clock, TreeDefinition
from bt_runtime.text import iso
from bt_runtime.text.data import dataclass
from oracle.agent.answering import ActiveQuery, Checked, Oracle
from oracle.agent.ending import control_failed
from oracle.agent.tracing import RunTrace
from oracle.core.metrics import Metrics
from oracle.llm.protocol import ModelFault
from oracle.runs.debugging.debugger import Debugger
from oracle.runs.debugging.session import DebugSession
from oracle.runs.live import LiveRun
from oracle.runs.options import RunOptions
from oracle.runs.record.events import Opened
from oracle.runs.record.record import Record
from oracle.runs.recorder import Backlog, RunRecorder, TickRoom
from oracle.runs.storage.errors import StorageError, StoreUnavailableError
from oracle.runs.storage.records import Claim, NewRun, Places
from oracle.runs.storage.store import Store

UNWRITABLE = ModelFault(
    "internal",
    "The answer could not be stored. Please ask again in a moment.",
    "the answer could not be stored, because the database cannot be written for now",
)


@dataclass(slots=True, eq=False)
class Opener:
    """Opens the runs of one process.

    Args:
        oracle: answers.
        options: bounds.
        new_id: makes ids of runs and conversations.
        clock: monotonic time.
        on_doubt: called with a run whose row may have been written, or may not have been removed.
        debugger: may pause the runs; `None`: runs cannot be debugged.
        versions: of the packages that runs depend on.
    """

    oracle: Oracle
    store: Store
    _: KW_ONLY
    options: RunOptions
    metrics: Metrics
    new_id: Callable[[], str]
    clock: Clock
    on_doubt: Callable[[NewRun], None]
    debugger: Debugger | None = None
    versions: tuple[str, ...] = ()

    def new_run(
        self, checked: Checked, *, trace: RunTrace, claims: tuple[Claim, ...], metadata: Mapping[str, str] | None
    ) -> NewRun:
        """The run of a question, with its place in its trace."""
        ask, tree = checked.ask, checked.tree
        return NewRun(
            id=ask.run_id or self.new_id(),
            user_id=ask.user_id,
            context_id=ask.context_id or self.new_id(),
            tree=ask.tree,
            input={
                "question": checked.question,
                "project_id": ask.project_id,
                "model": ask.model,
                "tree": ask.tree,
                "limits": dict(ask.limits),
                "turn_limit": checked.turn_limit,
                **({"detached": True} if ask.is_detached else {}),
                **({"metadata": dict(metadata)} if metadata else {}),
                **({"client_tools": ask.client_tools.to_json()} if ask.client_tools else {}),
                **({"attachments": list(ask.attachments)} if ask.attachments else {}),
                **({"output_schema": ask.output_schema} if ask.output_schema is not None else {}),
                **({"trace": noted} if (noted := trace.noted()) else {}),
            },
            limits=checked.config.model_dump(),
            timeout_s=checked.config.timeout_seconds,
            begins_conversation=ask.context_id is None,
            project_id=ask.project_id,
            tree_sha=tree.sha if tree else None,
            claims=claims,
        )

    async def begin(
        self,
        new: NewRun,
        *,
        places: Places = Places(),  # noqa: B008  frozen
        notice: Callable[[int], bytes] | None = None,
    ) -> LiveRun:
        """Write the row of a run; `places` and `notice` are those of `RunTable.begin`.

        Raises:
            StorageError: as `RunTable.begin`.
        """
        try:
            record = await self.store.runs.begin(
                new, most_per_user=self.options.most_per_user, places=places, notice=notice
            )
        except StoreUnavailableError:
            self.on_doubt(new)  # it may still be written
            raise
        return LiveRun(record, store=self.store, clock=self.clock)

    def recorder(
        self, live: LiveRun, *, started_s: float, clock: Clock | None = None, record: Record | None = None
    ) -> RunRecorder:
        """The recorder of the run.

        Args:
            live: the run.
            started_s: the time at which its question was accepted, in seconds since the epoch.
            clock: the run's clock; `None`: that of the process.
            record: what other processes have written of it; `None`: it begins here.
        """
        record, options = record or Record(), self.options
        log = self.store.log.writer(live.record, seq=record.seq, chunk_n=record.chunk_n)
        backlog = Backlog(
            log,
            most_bytes=options.most_unsaved_bytes,
            is_well=lambda: self.store.health.problem is None,
        )
        return RunRecorder(
            log=log,
            backlog=backlog,
            clock=clock or self.clock,
            started_s=started_s,
            record=record,
            metrics=self.metrics,
            on_done=live.note_done,
            on_unwritable=lambda: live.abort(UNWRITABLE),
            room=TickRoom(options.most_tick_bytes),
            on_no_room=lambda: live.abort(_no_room(live.record.tree, most_bytes=2 * options.most_tick_bytes)),
            keep_prompt=partial(self.store.prompts.keep, live.record.id),
            keep_interrupt=partial(self.store.interrupts.noting, live.record),
        )

    async def open(
        self, checked: Checked, live: LiveRun, recorder: RunRecorder, *, trace: RunTrace | None
    ) -> ActiveQuery:
        """The query of a run, which reads its conversation now; keeps the version of its tree.

        Raises:
            OracleError: as `Oracle.open`, or the version of the tree cannot be kept.
        """
        session = await self.debugged(live, recorder, checked.tree)
        query = await self.oracle.open(
            checked.for_run(live.record.id, context_id=live.record.context_id, asked_at=iso(live.record.created_at)),
            emit=recorder.emit,
            observers=[recorder],
            journal=recorder,
            pacer=session,
            may_park=live.may_park,
            clock=None if session is None else session.clock,
            trace=trace,
        )
        if session is not None:
            session.attach(query)
        if (tree := query.tree) is not None:  # before the log begins: whoever continues the run needs its tree
            await self.store.trees.keep(tree.sha, tree.name, tree.paths, tree.sources)
        recorder.opened(Opened.of(query.agent, versions=self.versions))
        return query

    async def debugged(
        self, live: LiveRun, recorder: RunRecorder, tree: TreeDefinition | None, *, clock: Clock | None = None
    ) -> DebugSession | None:
        """The debugger of a run, if there is one.

        Args:
            live: the run.
            recorder: writes it down.
            tree: drives it; `None`: a decision tree in Python does.
            clock: the run's clock; `None`: that of the process.
        """
        if self.debugger is None or tree is None:
            return None
        return await self.debugger.open(live.record, tree, recorder.debug, clock=clock)

    async def abandon(self, new: NewRun, recorder: RunRecorder) -> None:
        """Remove a run that could not be opened."""
        recorder.log.close()
        if self.debugger is not None:
            self.debugger.close(new.id)
        try:
            await self.store.runs.abandon(new.id, created_conversation=new.created_conversation)
        except StorageError:
            self.on_doubt(new)


def _no_room(tree: str, *, most_bytes: int) -> ModelFault:
    return control_failed(
        tree, f"its ticks take more than {most_bytes:,} bytes of the record without their long values"
    )
