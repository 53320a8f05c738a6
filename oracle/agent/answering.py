"""`Oracle`: checks a question, chooses its control, and runs the query to its `Done`.

The path of one query: `Oracle.check` and `open` prepare it; `ActiveQuery.run` lets the control drive; the control's
steps are in `oracle.agent` (`steps`, `turn`, `tool_calls`, `closing`); what the user sees leaves by `Output`.
"""

import asyncio
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from copy import copy
from dataclasses import field, replace
from typing import Any, Literal, Protocol

import structlog

from bt_runtime import Clock, Observer, Pacer, Registry, ResumedWork, TreeDefinition
from bt_runtime.text.data import dataclass
from oracle.agent.closing import Closer
from oracle.agent.control.choosing import DEFAULT_TREE, Chosen, Controls, Trees, limits_of, turn_limit
from oracle.agent.control.opening import OpenAgent, open_agent, open_query
from oracle.agent.control.tree import TreeControl
from oracle.agent.conversations.protocol import ATTACHED, Conversation, Conversations, UnknownConversationError
from oracle.agent.ending import control_failed, internal_error
from oracle.agent.equipment import Equipment
from oracle.agent.journal import Fact, QueryJournal
from oracle.agent.query import Query, checked_question
from oracle.agent.run import AgentRun
from oracle.agent.tracing import NO_TRACES, NOT_TRACED, RunTrace, TracedEnd, TraceHeaders, Traces
from oracle.classify.protocol import Encoder
from oracle.classify.types import QueryClassification, QueryShares
from oracle.core.chunks import Chunk
from oracle.core.errors import UserError
from oracle.core.loading import imported
from oracle.decision import AgentConfig, DecisionTreeError
from oracle.llm.protocol import Model, ModelFault
from oracle.tools import ToolRegistry
from oracle.tools.protocol import ChangingTools
from oracle.tools.selection import check_tools

log = structlog.get_logger(__name__)

_PLAIN_LOOP = "oracle.plain_loop:LoopControl"
"""The module that runs decision trees in Python; imported for the first query that uses one."""
MOST_HISTORY_TOKENS = 100_000
"""Of a conversation in a request; half of the query's token budget if that is less."""


class BroughtTools(Sized, Protocol):
    """Tools that come with a question and that its client runs; `oracle.tools.client_tools` reads them."""

    def check(self, *, taken: Collection[str], tree: str, can_wait: bool) -> None:
        """Check them before the question is opened.

        Args:
            taken: the names of the tools that the query has without them.
            tree: the name of the control.
            can_wait: whether that control can wait for answers of the client.

        Raises:
            UserError: the query cannot have them.
        """
        ...

    def behind(self, registry: ToolRegistry) -> ToolRegistry:
        """The tools of the query: those of the registry, followed by these."""
        ...

    def to_json(self) -> list[dict[str, Any]]:
        """What is kept of them with the question."""
        ...


@dataclass(frozen=True, slots=True)
class Ask:
    """What a user asks for.

    Args:
        question: 1-20 000 characters.
        user_id: whose query it is.
        context_id: the conversation to continue; `None` begins one.
        project_id: a label for a new conversation.
        model: the provider's model; `None` means the configured one.
        tree: the control: a YAML tree, or a registered decision tree.
        limits: `AgentConfig` fields for this query only.
        config: the user's own limits; `None` means the default ones.
        run_id: the name of the run; `None` makes one.
        trace: the headers that say which trace the question is part of, if its request had any.
        is_detached: its run is not cancelled when the last reader has left.
        client_tools: those that the client runs itself; `None`: there are none.
        headers: of the request, for tools that hand them on; `None`: they are not known.
        attachments: files beside the question, each a block (`oracle.llm.protocol`) of which the bytes are kept.
        output_schema: JSON schema of the answer, checked; `None`: it is free text.
    """

    question: str
    user_id: str = "local"
    context_id: str | None = None
    project_id: str | None = None
    model: str | None = None
    tree: str = DEFAULT_TREE
    limits: Mapping[str, Any] = field(default_factory=dict)
    config: AgentConfig | None = None
    run_id: str | None = None
    trace: TraceHeaders = field(default_factory=dict)
    is_detached: bool = False
    client_tools: BroughtTools | None = None
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    attachments: tuple[Mapping[str, Any], ...] = ()
    output_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """A question that has been checked, with everything that was loaded for it; `Oracle.open` loads nothing again.

    Args:
        question: the text that is sent.
        config: the limits in force.
        control: the tree, or the decision tree in Python.
        asked_at: when the question came, ISO 8601 in UTC; `None`: when it is opened.
        begun: the conversation, if it was created for this question, so that there is nothing in it to be read.
    """

    ask: Ask
    question: str
    config: AgentConfig
    control: Chosen
    asked_at: str | None = None
    begun: Conversation | None = None

    @property
    def tree(self) -> TreeDefinition | None:
        """The version of the tree; `None` for a decision tree in Python."""
        return self.control if isinstance(self.control, TreeDefinition) else None

    @property
    def turn_limit(self) -> int | None:
        """The control's own turn limit; `None` if it has none."""
        return turn_limit(self.control)

    def for_run(self, run_id: str, *, context_id: str, asked_at: str) -> "Checked":
        """The same question as a run with this id and start time, in a conversation that exists or has just begun."""
        ask = replace(self.ask, run_id=run_id, context_id=context_id)
        begun = Conversation(context_id, ask.user_id, ask.project_id) if self.ask.context_id is None else None
        return replace(self, ask=ask, asked_at=asked_at, begun=begun)


class Past(Protocol):
    """The inputs of a query when it began."""

    @property
    def previous(self) -> QueryClassification | None:
        """The classification of the query before."""
        ...

    @property
    def previous_errors(self) -> bool:
        """A tool failed in the query before."""
        ...

    @property
    def encoded(self) -> QueryShares | None:
        """How the encoder read the question."""
        ...

    @property
    def grants(self) -> tuple[str, ...]:
        """Names of the tools that a person had allowed for the conversation."""
        ...


class Control(Protocol):
    """What drives a query."""

    def cancel(self) -> None:
        """Ask it to stop."""
        ...

    def deliver(self, key: str, value: Any) -> None:  # noqa: ANN401  JSON data
        """Take a value from outside."""
        ...

    async def drive(self) -> None:
        """Work until the query has a reason to stop."""
        ...


@dataclass(slots=True)
class ActiveQuery:
    """A query that has been opened; `run` it once.

    Args:
        agent: the state and the parts of the query.
        closing: ends it.
        asked_at: when the question came, ISO 8601 in UTC.
        tree: the version of the tree that drives it; `None` if a decision tree in Python does.
        is_abandoned: another worker owns the run.
        is_continued: it has begun in another process.
    """

    agent: AgentRun
    control: Control
    closing: Closer
    asked_at: str
    tree: TreeDefinition | None = None
    is_abandoned: bool = False
    is_continued: bool = False

    @property
    def is_parked(self) -> bool:
        """Whether it only waits for people; nothing but its record is kept then."""
        return isinstance(self.control, TreeControl) and self.control.is_parked

    def cancel(self) -> None:
        """Stop on the user's request; the answer so far is kept, and `Done` is sent."""
        self.control.cancel()

    def abort(self, fault: ModelFault) -> None:
        """Stop as `error`, for a cause other than the user's request; the answer so far is kept."""
        if not self.agent.state.is_terminal:
            self.agent.fail(fault)
        self.control.cancel()

    def abandon(self) -> None:
        """Stop sending and saving: another worker owns the run."""
        self.agent.output.is_done = self.is_abandoned = True

    async def run(self) -> None:
        """Run the query to its `Done`, also if the control fails, or until it is parked.

        A cancel of the task that runs this is a request to stop: the answer so far is kept, `Done` is sent, and the
        cancel is raised again. `cancel` is the better way, because then the tree decides how to end.
        """
        with self.agent.trace.entered():
            try:
                await self._run()
            finally:
                if self.agent.output.is_done and not self.is_abandoned:  # else the end of the run ends its trace
                    self.agent.trace.ended(self._traced_end())

    def _traced_end(self) -> TracedEnd:
        agent, state = self.agent, self.agent.state
        fault = agent.fault if state.termination_reason == "error" else None
        return TracedEnd(
            reason=state.termination_reason or "completed",
            turns=state.turn,
            tokens=state.tokens_used,
            model=agent.model_used,
            error_type=fault.error_type if fault else "internal" if state.termination_reason == "error" else "",
            error=(fault.cause or fault.message) if fault else "",
            question=agent.query.question,
            answer=lambda: agent.output.answer,
        )

    async def _run(self) -> None:
        if not self.is_continued:
            self.agent.notify_of_cut_history()
        try:
            await self._drive()
            if self.is_parked:
                return
            await self.closing.finish(self.agent, asked_at=self.asked_at)
        except asyncio.CancelledError:
            self.agent.state = self.agent.state.after_cancel()
            self.agent.stop("user_cancelled")
            await self.closing.finish(self.agent, asked_at=self.asked_at)
            raise

    async def _drive(self) -> None:
        """Run the control; an exception becomes the fault that ends the query."""
        try:
            await self.control.drive()
        except DecisionTreeError as error:
            self._fail(control_failed(self.agent.query.tree, str(error)), error)
        except Exception as error:  # noqa: BLE001  logged, and reported to the user
            self._fail(internal_error(error), error)

    def _fail(self, fault: ModelFault, error: Exception) -> None:
        # Formatted here: a renderer of the host's choice might print local variables, and with them prompts.
        where = "".join(traceback.format_exception(error))
        log.error("run.failed", run_id=self.agent.query.run_id, problem=fault.cause, traceback=where)
        self.agent.fail(fault)


class Oracle:
    """Answers questions.

    Args:
        equipment: model, tools, prompt segments and clock.
        trees: where YAML trees are found by name.
        conversations: keeps the exchanges.
        new_id: makes ids of runs.
        config: the limits of users who have set none.
        cap: lowers a query's limits to what the operator allows.
        tools_of: the tools of a user, where users have their own; `None`: those of the equipment, for all.
        control: `loop` replaces the tree `oracle` by the default decision tree.
        named_trees: what a question may name besides `oracle`; empty: every tree that is not internal.
        traces: traces the queries.
        changing: further tools, which come and go; `None`: there are none.
    """

    def __init__(  # noqa: PLR0913  by name, and each is another part
        self,
        *,
        equipment: Equipment,
        trees: Trees,
        conversations: Conversations,
        new_id: Callable[[], str],
        config: AgentConfig | None = None,
        cap: Callable[[AgentConfig], AgentConfig] | None = None,
        tools_of: Callable[[str], ToolRegistry] | None = None,
        control: Literal["tree", "loop"] = "tree",
        named_trees: Collection[str] = (),
        traces: Traces = NO_TRACES,
        changing: ChangingTools | None = None,
    ) -> None:
        check_tools(equipment.tools)
        self.traces = traces
        self.changing = changing
        self._equipment = equipment
        self._registry = trees.registry
        self._controls = Controls(trees, named=named_trees, default=control)
        self._conversations = conversations
        self._new_id = new_id
        self._config = config or AgentConfig()
        self._cap = cap or (lambda wanted: wanted)
        self._tools_of = tools_of

    def beside(self, *, model: Model, conversations: Conversations, tools: ToolRegistry, clock: Clock) -> "Oracle":
        """The same with another model, conversations, tools and clock, and without traces."""
        other = copy(self)  # whose own parts are changed here, not another object's
        other._equipment = replace(self._equipment, model=model, tools=tools, clock=clock)  # noqa: SLF001
        other._conversations = conversations  # noqa: SLF001
        other._tools_of = other.changing = None  # noqa: SLF001
        other.traces = NO_TRACES
        return other

    @property
    def model(self) -> Model:
        """The model that answers."""
        return self._equipment.model

    @property
    def encoder(self) -> Encoder:
        """What reads questions and responses in addition to the heuristics."""
        return self._equipment.encoder

    @property
    def equipment(self) -> Equipment:
        """What its queries work with."""
        return self._equipment

    @property
    def model_name(self) -> str:
        """The model that answers where a query names none."""
        return self._equipment.model.name

    def context_tokens(self, model: str | None = None) -> int | None:
        """How much a model reads and writes together, as far as that is known; `None` is the configured one."""
        return self._equipment.context_tokens(model)

    @property
    def project(self) -> str:
        """The project's name; empty if there is none."""
        return self._equipment.project

    @property
    def tool_groups(self) -> frozenset[str]:
        """The groups of the available tools, without the web if the model's provider refuses it."""
        further = () if self.changing is None else self.changing.tools()
        groups = frozenset(tool.group for tool in (*self._equipment.tools.tools, *further))
        return groups if self._equipment.model.has_web_search else groups - {"web"}

    @property
    def named_trees(self) -> tuple[str, ...]:
        """The controls that a question may name, sorted."""
        return self._controls.names()

    def tools_for(self, user_id: str, *, also_gone: bool = False) -> ToolRegistry:
        """The tools of a user.

        Args:
            user_id: whose.
            also_gone: include tools that come and go and are absent now, for a query that began with them.

        Raises:
            ToolSetupError: the user's vault cannot be used.
        """
        own = self._equipment.tools if self._tools_of is None else self._tools_of(user_id)
        if self.changing is None:
            return own
        return own.extended(self.changing.known() if also_gone else self.changing.tools())

    def may_write(self, tool: str) -> bool:
        """Whether a call of a tool may change something; true for an unknown tool."""
        further = () if self.changing is None else self.changing.known()
        found = self._equipment.tools.get(tool) or next((each for each in further if each.name == tool), None)
        return found is None or found.writes

    def may_name(self, tree: str) -> bool:
        """Whether a question may name this control."""
        return self._controls.may_be_named(tree)

    def turn_limit(self, tree: str = DEFAULT_TREE) -> int | None:
        """Load a control and return its own turn limit, `None` if it has none.

        Raises:
            UserError: there is no such tree.
            TreeFileError: the tree has mistakes.
            DecisionTreeError: the decision tree cannot be made.
        """
        return turn_limit(self._controls.choose(tree, self._config))

    def check(self, ask: Ask) -> Checked:
        """Check a question and load its control.

        Raises:
            UserError: it is empty, too long, or not text; a limit is out of bounds; there is no such tree; a tool of
                the client cannot be offered.
            TreeFileError: the tree has mistakes.
            DecisionTreeError: the decision tree cannot be made, or has no limits.
            ToolSetupError: the client brings tools, and those of the user cannot be made.
        """
        question = checked_question(ask.question)
        config = self._cap((ask.config or self._config).with_limits(ask.limits))
        control = self._controls.choose(ask.tree, config)
        if (tokens := sum(each["tokens"] for each in ask.attachments)) > config.token_budget:
            raise UserError(
                f"the attachments take some {tokens:,} tokens, and this run may use {config.token_budget:,}: "
                "attach less, or raise `token_budget`",
                loc=("body", "attachments"),
            )
        if ask.client_tools:
            taken, can_wait = self.tools_for(ask.user_id).names, isinstance(control, TreeDefinition)
            ask.client_tools.check(taken=taken, tree=ask.tree, can_wait=can_wait)
        return Checked(ask, question, limits_of(control, config), control)

    def begin_trace(self, checked: Checked) -> RunTrace:
        """Begin to trace a query, which `open` is about to open."""
        ask, tree = checked.ask, checked.tree
        model = ask.model or self._equipment.model.name
        return self.traces.begin(tree=ask.tree, version=tree.sha if tree else None, model=model, headers=ask.trace)

    async def open(
        self,
        asked: Ask | Checked,
        *,
        emit: Callable[[Chunk], None],
        observers: Iterable[Observer] = (),
        journal: QueryJournal | None = None,
        pacer: Pacer | None = None,
        clock: Clock | None = None,
        trace: RunTrace | None = None,
        may_park: Callable[[], bool] | None = None,
    ) -> ActiveQuery:
        """Prepare the run of a question; no chunk is emitted yet.

        Args:
            asked: the question; one that `check` has returned is run as it was checked, another one is checked first.
            emit: gets every chunk at once, in order; must not block.
            observers: get the tick records, if the control is a tree.
            journal: keeps outcomes and signals.
            pacer: may hold the run between its ticks, if the control is a tree.
            clock: the time of this query; `None`: that of the process.
            trace: what `begin_trace` has begun; `None` begins it now.
            may_park: asked when the query waits for people alone: whether it is to be parked; `None`: it is not.

        Raises:
            UnknownConversationError: there is no such conversation.
            UserError, TreeFileError, DecisionTreeError: as `check`.
        """
        checked = asked if isinstance(asked, Checked) else self.check(asked)
        ask, trace = checked.ask, trace or self.begin_trace(checked)
        conversation = checked.begun or await self._conversation(ask)
        encoded = await self._equipment.encoder.query_shares(checked.question)
        query = _query(checked, conversation, self._equipment, run_id=ask.run_id or self._new_id(), encoded=encoded)
        equipment = self._equipped(ask, clock, may_ask=checked.tree is not None)
        trace.opened(run_id=query.run_id, context_id=query.context_id)
        asked_at = checked.asked_at or self._equipment.timestamp()
        if not isinstance(checked.control, TreeDefinition):
            agent = open_query(
                query, equipment=equipment, max_turns=checked.turn_limit, emit=emit, journal=journal, trace=trace
            )
            loop = imported(_PLAIN_LOOP)(agent, checked.control)
            return ActiveQuery(agent, loop, Closer(self._conversations), asked_at)
        opened = open_agent(
            query,
            checked.control,
            equipment=equipment,
            store=self._conversations,
            asked_at=asked_at,
            emit=emit,
            journal=journal,
            trace=trace,
            registry=self._registry,
        )
        control = TreeControl(opened, observers=observers, pacer=pacer, may_park=may_park)
        return ActiveQuery(opened.agent, control, opened.host.closing, asked_at, checked.tree)

    def reopen(
        self, checked: Checked, past: Past, *, conversation: Conversation, tools: ToolRegistry, clock: Clock
    ) -> OpenAgent:
        """The query of a run that began in another process, before its first tick; nothing of it is sent or saved.

        Args:
            checked: the question as it was checked then, with the version of the tree that drives it.
            past: what the query knew when it began.
            conversation: its messages when the query began.
            tools: the tools that the query began with.
            clock: the query's clock, which continues at the last recorded time.

        Raises:
            TypeError: a decision tree in Python drives it, which cannot be repeated.
        """
        if not isinstance(checked.control, TreeDefinition):
            raise TypeError("only a run that a YAML tree drives can be opened anew")
        run_id = checked.ask.run_id or ""
        query = _query(checked, conversation, self._equipment, run_id=run_id, encoded=past.encoded)
        query = replace(query, previous=past.previous, previous_errors=past.previous_errors, grants=past.grants)
        return open_agent(
            query,
            checked.control,
            equipment=replace(self._equipment, tools=tools, clock=clock),
            store=self._conversations,
            asked_at=checked.asked_at,
            registry=self._registry,
            rules="none",
        )

    def resume(  # noqa: PLR0913  by name, most of them as for `open`
        self,
        opened: OpenAgent,
        resumed: ResumedWork,
        *,
        facts: Sequence[Fact],
        untaken: Collection[str],
        emit: Callable[[Chunk], None],
        observers: Iterable[Observer] = (),
        journal: QueryJournal,
        pacer: Pacer | None = None,
        may_park: Callable[[], bool] | None = None,
        trace: RunTrace = NOT_TRACED,
    ) -> ActiveQuery:
        """Let a query that was reopened continue, after all its ticks were repeated.

        Args:
            opened: the query that `reopen` returned.
            resumed: where it goes on.
            facts: what was recorded of it, for the rules of its tree.
            untaken: the keys of outcomes among them that no tick has taken.
            emit: gets every chunk from here on.
            observers: get the tick records from here on.
            journal: keeps outcomes and signals from here on.
            pacer: may hold the run between its ticks.
            may_park: asked when the query waits for people alone: whether it is to be parked; `None`: it is not.
            trace: the run's trace.
        """
        agent = opened.agent
        agent.output.emit, agent.journal, agent.signals.journal, agent.trace = emit, journal, journal, trace
        opened.watch_rules()
        if opened.rules is not None:
            opened.rules.restore(facts, untaken=untaken)
        trace.opened(run_id=agent.query.run_id, context_id=agent.query.context_id)
        control = TreeControl(opened, observers=observers, pacer=pacer, resumed=resumed, may_park=may_park)
        host = opened.host
        tree = opened.tree
        has_begun = tree.context.tick > 0  # before the first tick it has said nothing
        return ActiveQuery(agent, control, host.closing, host.asked_at, tree.definition, is_continued=has_begun)

    @property
    def registry(self) -> Registry:
        """The kinds that trees are read with."""
        return self._registry

    async def _conversation(self, ask: Ask) -> Conversation:
        if ask.context_id is None:
            return await self._conversations.create(ask.user_id, project_id=ask.project_id)
        found = await self._conversations.load(ask.user_id, ask.context_id)
        if found is None:
            raise UnknownConversationError(ask.context_id)
        return found

    def _equipped(self, ask: Ask, clock: Clock | None, *, may_ask: bool) -> Equipment:
        """The equipment of the query; a control that cannot ask people gets no tools that need approval."""
        tools = self.tools_for(ask.user_id)
        if ask.client_tools:
            tools = ask.client_tools.behind(tools)
        if not may_ask and any(tool.needs_approval for tool in tools.tools):
            tools = tools.remade(tool for tool in tools.tools if not tool.needs_approval)
        equipment = replace(self._equipment, tools=tools)
        return equipment if clock is None else replace(equipment, clock=clock)


def _query(
    checked: Checked, conversation: Conversation, equipment: Equipment, *, run_id: str, encoded: QueryShares | None
) -> Query:
    """The query of a question, with as much of its conversation as fits into the budget and the context."""
    ask = checked.ask
    room = min(checked.config.token_budget // 2, MOST_HISTORY_TOKENS)
    if (window := equipment.context_tokens(ask.model)) is not None:
        room = min(room, window // 3)
    history = equipment.history(
        conversation.messages,
        most_tokens=room,
        earlier=conversation.earlier,
        can_attach=equipment.hooks.complete is not None,
    )
    return Query(
        run_id=run_id,
        question=checked.question,
        user_id=ask.user_id,
        context_id=conversation.context_id,
        config=checked.config,
        tree=ask.tree,
        project_id=conversation.project_id,
        model=ask.model,
        history=history.messages,
        omitted_messages=history.omitted,
        is_history_shortened=history.shortened,
        history_ends=history.ends,
        history_tokens=history.tokens,
        history_room=room,
        is_history_partial=history.omitted > 0 or history.is_summarized,
        previous=conversation.classification,
        previous_errors=conversation.had_tool_errors,
        encoded=encoded,
        grants=conversation.grants,
        read_before=(*conversation.read_before, *([ATTACHED] if ask.attachments else ())),
        headers=ask.headers,
        attachments=ask.attachments,
        output_schema=ask.output_schema,
    )
