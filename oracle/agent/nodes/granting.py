"""Kinds that grant the model another turn: `grant_turn`, `require_answer` and `try_strategy`.

Hints for the model with facts of the query in them: `{empty_searches}` stands for the value of that key.

Facts are names and words of the model, its tools and the user, in a text that has the authority of the control. So each
is put on one line, cut, and written in quotation marks that it cannot end; the note as a whole is neutralised
(`oracle.core.control_notes`). Texts of results, which anybody may have written, are not among the keys for hints.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import structlog
from pydantic import Field

from bt_runtime import Facts, NodeSettings, Status, Stepped, Words, node
from bt_runtime.language.kind import HERE, Case, TemplateText, filled, keys_in, leaf
from bt_runtime.text.phrases import clipped, counted, joined
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.flows import GRANTING
from oracle.agent.nodes.roles import GRANTS_TURN, REQUIRES_ANSWER, TRIES_STRATEGY
from oracle.agent.notes import WRAP_UP
from oracle.agent.notices import quoted
from oracle.agent.tool_calls import refuse_open
from oracle.agent.transcript import NOT_RUN
from oracle.core.chunks import Topic

_MOST_SHOWN = 60
_MOST_ITEMS = 10


def filled_hint(template: str, board: Mapping[str, object]) -> str:
    """The hint with the facts in place.

    Args:
        template: the author's text.
        board: values by key.
    """
    return filled(template, board, show=_fact)


def is_lacking(template: str, board: Any) -> str:  # noqa: ANN401  a blackboard or the view of one
    """The first key of a template that has nothing to show: an empty list or text; empty if there is none."""
    return next((key for key in keys_in(template) if board[key] in ((), [], "", None)), "")


def _fact(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        shown = [_quoted(str(item)) for item in value[-_MOST_ITEMS:]]
        return joined(shown) if shown else "none"
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    return f'"{clipped(quoted(text), _MOST_SHOWN).replace(chr(34), chr(39))}"'


class GrantTurnSettings(NodeSettings):
    """Settings of `grant_turn`.

    Args:
        hint: an additional instruction; `{key}` shows a blackboard value.
    """

    hint: TemplateText = ""


@node(
    "grant_turn",
    settings=GrantTurnSettings,
    shorthand="hint",
    facts=Facts(roles=(GRANTS_TURN,), shows=True),
    flow=leaf(*GRANTING),
)
class GrantTurn(AgentNode[GrantTurnSettings]):
    """Asks the model to continue in another turn, if the guards of the loop allow one.

    SUCCESS, always. Tool calls that have not run yet are discarded.

    ```yaml
    grant_turn: {hint: "Try a tool that you have not used yet."}
    ```
    """

    def update(self) -> Status:
        refuse_open(self.agent, NOT_RUN)
        self.agent.ask_again(filled_hint(self.settings.hint, self.board))
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        state = self.agent.state
        if state.turn >= state.turn_limit:
            text = f"{state.turn:,} of {counted(state.turn_limit, 'turn')} are used"
            return Words(f"one more turn is asked for; {text}", f"One more turn is asked for, and {text}.")
        text = f"{state.turn + 1:,} of {state.turn_limit:,}"
        return Words(f"one more turn: {text}", f"One more turn is granted: {text}.")


class RequireAnswerSettings(NodeSettings):
    """Settings of `require_answer`.

    Args:
        hint: an instruction for that turn; `{key}` shows a blackboard value.
    """

    hint: TemplateText = Field(
        default=WRAP_UP,
        min_length=1,
        max_length=2000,
    )


@node(
    "require_answer",
    settings=RequireAnswerSettings,
    shorthand="hint",
    facts=Facts(roles=(REQUIRES_ANSWER,), shows=True),
    flow=leaf(Case("success", facts={"noted": HERE})),
)
class RequireAnswer(AgentNode[RequireAnswerSettings]):
    """Runs the next turn without tools, so that the model must answer.

    SUCCESS, always. This can miss the provider's cache, so try a `note` first.

    ```yaml
    require_answer: "Answer now from what you have."
    ```
    """

    def update(self) -> Status:
        self.agent.gathering.answer_due = True
        self.agent.add_note(filled_hint(self.settings.hint, self.board), "last_turn")
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  nothing else is to be said
        return Words("the next turn is without tools", "The next turn is without tools: the model is to answer.")


log = structlog.get_logger(__name__)
_TRIED = {"strategies_tried": (["a strategy"],)}


class TryStrategySettings(NodeSettings):
    """Settings of `try_strategy`.

    Args:
        hint: what the model should do in the turn; `{key}` shows a blackboard value.
        message: a notice for the user.
        topic: the topic of the notice.
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
    """Grants another turn with a hint, once per run for each name of the node.

    SUCCESS if the turn is granted. FAILURE if this strategy was tried before, no turn is left, or a value that the
    hint shows is empty. Put several in a `selector`.

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
