"""What the model was asked: as it was recorded, or as a repetition of the run asks for it."""

from collections.abc import Mapping, Sequence
from typing import Any

from oracle.agent.nodes.llm_turn import LlmTurn
from oracle.agent.planning import WRAP_UP_NOTE
from oracle.agent.run import AgentRun
from oracle.llm.protocol import Message
from oracle.replay.histories.model import RequestFacts


def recorded_request(fields: Mapping[str, Any], known: RequestFacts | None) -> RequestFacts:
    """The request behind the data of a `request` event.

    Args:
        fields: the data.
        known: what a repetition of the run knows: the messages and the notes, whose texts are not recorded twice.

    Raises:
        KeyError, TypeError: it is no request.
    """
    known = known or RequestFacts()
    hint = str(fields.get("hint") or "")
    return RequestFacts(
        segments=tuple(map(str, fields["segments"])),
        prompt_sha=str(fields["prompt"]) or None,
        tools=tuple(map(str, fields["tools"])),
        tool_choice=str(fields["tool_choice"]),
        notes=known.notes or ((hint,) if hint else ()),
        messages=known.messages,
        max_tokens=int(fields["max_tokens"]),
        wrap_up=bool(fields["wrap_up"]),
        recorded=True,
        total_messages=int(fields["messages"]),
        thinking_tokens=int(fields["thinking_tokens"]),
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
        hints = (node.hint(), WRAP_UP_NOTE if plan.wrap_up else "")
        waiting = agent.notes if settings.visible else ()
        known = _in_common(self._sent, messages)
        if settings.visible:
            self._sent = messages
        return RequestFacts(
            segments=tuple(use.id for use in agent.prompt.segments if use.included) if agent.prompt else (),
            tools=agent.offered,
            tool_choice="auto" if settings.visible and settings.tools else "none",
            notes=tuple(note for note in (*waiting, *hints) if note),
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
