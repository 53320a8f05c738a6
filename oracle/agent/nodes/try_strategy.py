"""The `try_strategy` kind."""

from dataclasses import replace

import structlog
from pydantic import Field

from bt_runtime import Facts, NodeSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import Case, leaf
from bt_runtime.language.kind import TemplateText
from bt_runtime.text.phrases import clipped
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.flows import GRANTING
from oracle.agent.nodes.hints import filled_hint, is_lacking
from oracle.agent.nodes.roles import TRIES_STRATEGY
from oracle.agent.tool_calls import refuse_open
from oracle.agent.transcript import NOT_RUN
from oracle.core.chunks import Topic

log = structlog.get_logger(__name__)
_TRIED = {"strategies_tried": (["a strategy"],)}


class TryStrategySettings(NodeSettings):
    """Settings of `try_strategy`.

    Args:
        hint: what the model is to do in the turn that it is granted; `{key}` stands for a blackboard value.
        message: what the user reads; empty: nothing.
        topic: the topic of that notification.
    """

    hint: TemplateText = Field(min_length=1, max_length=2000)
    message: str = Field(default="", max_length=2000)
    topic: Topic = "fallback"


@node(
    "try_strategy",
    settings=TryStrategySettings,
    shorthand="hint",
    facts=Facts(roles=(TRIES_STRATEGY,), shows=True),
    flow=leaf(*(replace(case, writes={**case.writes, **_TRIED}) for case in GRANTING), Case("failure")),
)
class TryStrategy(AgentNode[TryStrategySettings]):
    """Grants another turn with the hint of one strategy, at most once in a query; the node's name is the strategy's.

    SUCCESS: the model is asked to go on as the hint says, the user is notified, and the strategy is in
    `strategies_tried`. FAILURE: the strategy was tried before, the limits leave no turn, or a list or text that the
    hint shows is empty, so that there is nothing to say; a selector then goes on with the next strategy.

    ```yaml
    try_strategy:
      message: The agent is stuck. Trying another approach.
      hint: "These tools have not been used yet: {untried_tools}. Use those that may help."
    ```
    """

    def update(self) -> Status:
        agent, strategy = self.agent, self.definition.title
        self.publish()  # tools may have been offered since the last turn
        if self._obstacle():
            return Status.FAILURE
        agent.gathering.choose(strategy)
        signals = agent.signals
        log.info(
            "fallback.strategy_chosen",
            strategy=strategy,
            turn=agent.state.turn,
            signal=signals.latest.type if signals.latest else "",
            intent=signals.intent.signal_type if signals.intent else "",
        )
        if self.settings.message:
            topic, message = self.settings.topic, self.settings.message
            self.host.notify(topic=topic, message=message, severity="info", metadata={"strategy": strategy})
        refuse_open(agent, NOT_RUN)
        agent.ask_again(filled_hint(self.settings.hint, self.board), strategy=strategy)
        self.publish()
        return Status.SUCCESS

    def _obstacle(self) -> str:
        """Why the strategy cannot be tried; empty if it can."""
        agent = self.agent
        if self.definition.title in agent.gathering.strategies:
            return "tried before"
        if not agent.is_turn_left():
            return "the limits leave no turn"
        lacking = is_lacking(self.settings.hint, self.board)
        return f"{lacking} is empty" if lacking else ""

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        if self.status is Status.SUCCESS:
            hint = clipped(filled_hint(self.settings.hint, self.board), 200)
            return Words(f'hint "{hint}"', f"The fallback tries another strategy: {self.title}.")
        why = self._obstacle()
        return Words(f"no: {why}", f"The strategy {self.title} is not tried: {why}.")
