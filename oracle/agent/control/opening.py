"""Opens an agent: the one place that puts a query, its parts, its tree, the rules and the floor together.

    opened = open_agent(query, tree, equipment=Equipment(model=model, tools=tools, clock=clock), store=store)

Queries that run, records that are repeated, scenarios and the verifier begin here. They differ in the model, the tools,
the clock and the store that they are given, and in what drives the stepper.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from bt_runtime import Blackboard, LiveTree, Registry, TreeDefinition, build
from bt_runtime.nodes.context import Tracer
from bt_runtime.text.data import dataclass
from oracle.agent.closing import Closer
from oracle.agent.control.choosing import turn_limit
from oracle.agent.control.floor import TreeFloor
from oracle.agent.conversations.protocol import Conversations
from oracle.agent.equipment import Equipment
from oracle.agent.journal import NoJournal, QueryJournal, RuleWatch
from oracle.agent.nodes import REGISTRY, AgentHost, demanded, values_of
from oracle.agent.output import Output
from oracle.agent.query import Query
from oracle.agent.run import AgentRun
from oracle.agent.signals import SignalLog
from oracle.agent.tracing import NOT_TRACED, RunTrace
from oracle.agent.transcript import Transcript
from oracle.core.chunks import Chunk
from oracle.core.errors import TreeAuthorError
from oracle.core.loading import imported
from oracle.decision import AgentState
from oracle.llm.protocol import ModelFault

_RULES_OF = "oracle.features.rules.enforcing:rules_of"
"""The class that watches rules; imported for a tree that has rules to watch."""


@dataclass(slots=True)
class OpenAgent:
    """A query under the control of a tree, before its first tick.

    Args:
        rules: watch what the query does; `None`: the tree has none, or they are not watched.
        cancel: requests the run to stop; set by what drives it.
    """

    agent: AgentRun
    tree: LiveTree
    floor: TreeFloor
    rules: RuleWatch | None = None
    cancel: Callable[[], None] = lambda: None

    @property
    def host(self) -> AgentHost:
        """What the nodes of the tree have of the query."""
        host: AgentHost = self.tree.context.host
        return host

    def watch_rules(self, *, only_enforced: bool = True) -> None:
        """Make the rules of the tree judge the query's steps, and wrap its present journal.

        Raises:
            TreeAuthorError: nothing that watches rules is installed.
        """

        def stop(fault: ModelFault) -> None:
            self.agent.fail(fault)
            self.cancel()

        definition, journal = self.tree.definition, self.agent.journal
        if not any(rule.enforce is not None or not only_enforced for rule in definition.rules):
            return
        try:
            rules_of = imported(_RULES_OF)
        except ModuleNotFoundError:
            raise TreeAuthorError(
                f"the rules of {definition.name!r} need the feature 'rules', which is not installed"
            ) from None
        self.rules = rules_of(self.agent, definition, journal=journal, stop=stop, only_enforced=only_enforced)


def open_query(
    query: Query,
    *,
    equipment: Equipment,
    max_turns: int | None = None,
    emit: Callable[[Chunk], None] = lambda _chunk: None,
    journal: QueryJournal | None = None,
    trace: RunTrace = NOT_TRACED,
) -> AgentRun:
    """The parts of a query, which any control can drive.

    Args:
        query: what is asked, and within which limits.
        equipment: model, tools, prompt and clock.
        max_turns: the turn limit of the control itself; `None`: it has none.
        emit: gets every chunk at once, in order; must not block.
        journal: keeps outcomes and signals.
        trace: gets the spans of the query.
    """
    journal = journal or NoJournal()
    output = Output(emit=emit, timestamp=equipment.timestamp)
    return AgentRun(
        query=query,
        equipment=equipment,
        output=output,
        state=AgentState(
            user_id=query.user_id,
            project_id=query.project_id,
            config=query.config,
            max_turns=max_turns,
            start_time=equipment.clock.now(),
        ),
        signals=SignalLog(query.run_id, journal),
        gathering=equipment.gathering(),
        transcript=Transcript.of(query.history, query.question, query.beside),
        journal=journal,
        trace=trace,
    )


def open_agent(  # noqa: PLR0913  by name, most of them with defaults
    query: Query,
    definition: TreeDefinition,
    *,
    equipment: Equipment,
    store: Conversations,
    asked_at: str | None = None,
    emit: Callable[[Chunk], None] = lambda _chunk: None,
    journal: QueryJournal | None = None,
    trace: RunTrace = NOT_TRACED,
    registry: Registry = REGISTRY,
    rules: Literal["enforced", "all", "none"] = "enforced",
    node_trace: Tracer | None = None,
    blackboard: type[Blackboard] = Blackboard,
) -> OpenAgent:
    """A query under the control of a tree.

    Args:
        query: what is asked, and within which limits.
        definition: the tree.
        equipment: model, tools, prompt and clock.
        store: keeps the conversation.
        asked_at: when the question came, ISO 8601 in UTC; `None`: now.
        emit: gets every chunk at once, in order; must not block.
        journal: keeps outcomes and signals.
        trace: gets the spans of the query.
        registry: the kinds that the tree was read with.
        rules: which rules of the tree are watched.
        node_trace: watches the nodes, to explain their results.
        blackboard: the class of the blackboard; one of its own can tell which keys are read.
    """
    if definition.labels:
        equipment = replace(equipment, tools=equipment.tools.labelled(definition.labels))
    agent = open_query(
        query, equipment=equipment, max_turns=turn_limit(definition), emit=emit, journal=journal, trace=trace
    )

    keys = demanded(definition)
    host = AgentHost(agent, Closer(store), asked_at or equipment.timestamp(), demanded=keys)
    values = values_of(agent, keys)
    tree = build(definition, registry=registry, host=host, values=values, trace=node_trace, blackboard=blackboard)
    if node_trace is not None:
        node_trace.watch(tree)
    opened = OpenAgent(agent, tree, TreeFloor(agent, tree.blackboard))
    if rules != "none":
        opened.watch_rules(only_enforced=rules == "enforced")
    return opened
