"""What the model was asked: as it was recorded, or as a repetition of the run asks for it."""

from collections.abc import Sequence

from oracle.agent.nodes.llm_turn import LlmTurn
from oracle.agent.requests import RequestRecord
from oracle.agent.run import AgentRun
from oracle.agent.turn import notes_for
from oracle.llm.protocol import Message
from oracle.replay.histories.model import RequestFacts


def recorded_request(record: RequestRecord, known: RequestFacts | None) -> RequestFacts:
    """The request behind its record.

    Args:
        record: the request as it was recorded.
        known: what a repetition of the run knows: the messages and the notes, whose texts are not recorded twice.
    """
    known = known or RequestFacts()
    return RequestFacts(
        segments=record.segments,
        prompt_sha=record.prompt or None,
        tools=record.tools,
        tool_choice=record.tool_choice,
        notes=known.notes or ((record.hint,) if record.hint else ()),
        messages=known.messages,
        max_tokens=record.max_tokens,
        wrap_up=record.wrap_up,
        recorded=True,
        total_messages=record.messages,
        thinking_tokens=record.thinking_tokens,
    )


class Requested:
    """The requests of a run that is repeated; each has the messages that those before it did not have."""

    def __init__(self, agent: AgentRun) -> None:
        self._agent = agent
        self._sent: Sequence[Message] = ()

    def by(self, node: LlmTurn) -> RequestFacts:
        """What a node asks for, at the end of the tick in which it does."""
        agent, settings = self._agent, node.settings
        plan, messages = agent.plan(settings.model), agent.transcript.messages
        known = _in_common(self._sent, messages)
        if settings.visible:
            self._sent = messages
        return RequestFacts(
            segments=tuple(use.id for use in agent.prompt.segments if use.included) if agent.prompt else (),
            tools=agent.offered,
            tool_choice="auto" if settings.visible and settings.tools else "none",
            notes=notes_for(agent, plan, visible=settings.visible, hint=node.hint()),
            messages=tuple(messages[known:]),
            max_tokens=plan.max_tokens,
            wrap_up=plan.wrap_up,
        )


def _in_common(sent: Sequence[Message], messages: Sequence[Message]) -> int:
    """How many messages are the same at the beginning of both; a message is replaced when something is added to it."""
    count = 0
    for before, now in zip(sent, messages, strict=False):
        if before is not now:
            break
        count += 1
    return count
