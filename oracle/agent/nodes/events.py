"""The types of events of the agent's runs, for the rules of its trees."""

from typing import get_args

from bt_runtime import EventType
from bt_runtime.language.rule import ACTION_LABELS
from oracle.core.chunks import TerminationReason, Topic
from oracle.tools.protocol import READS, WRITES
from signals import SignalType

ANSWER, SIDE = "answer", "side"
"""The names of turns: of the answer, or beside it (`llm_turn` with `visible: false`)."""

LABELS = "The labels of the tool: `private` and `untrusted` of what it reads, `outward` of where it writes."
IS_APPROVED = "is_approved"
"""The field of a tool that begins which no argument is."""

_REASONS: tuple[str, ...] = get_args(TerminationReason)

AGENT_EVENTS: tuple[EventType, ...] = (
    EventType(
        "turn",
        "A turn of the model begins: `answer`, or `side` where it is not visible.",
        names=(ANSWER, SIDE),
        fields={"number": "Its number, from 1; one that was interrupted does not count."},
    ),
    EventType(
        "turn_end",
        "A turn of the model has ended.",
        names=(ANSWER, SIDE),
        fields={
            "number": "Its number, from 1.",
            "tool_calls": "How many tools it called.",
            "signal": "The type of its signal; empty if it has none.",
            "failed": "The provider failed.",
            "interrupted": "It was interrupted.",
            "cut_off": "It was truncated by its token limit.",
        },
    ),
    EventType(
        "tool",
        "A tool starts, called by the model or an `action`; conditions can use its arguments.",
        source="actions",
        fields={
            IS_APPROVED: "A person has approved this very call, or the tool for the conversation.",
            ACTION_LABELS: LABELS,
        },
        refusable=True,
        verb="writes",
        labels=WRITES,
    ),
    EventType(
        "approval",
        "A person has approved a call, or the tool for the conversation; conditions can use its arguments.",
        source="actions",
        fields={"is_edited": "The person has put these arguments in the place of the call's."},
    ),
    EventType(
        "tool_result",
        "A tool has returned its result; conditions can use its arguments.",
        source="actions",
        fields={
            "is_error": "The tool failed, or was cancelled.",
            "result": "The text of the result.",
            ACTION_LABELS: LABELS,
        },
        verb="reads",
        labels=READS,
    ),
    EventType(
        "signal",
        "A turn of the answer ended with a signal.",
        names=get_args(SignalType),
        fields={"confidence": "From 0 to 1.", "reason": "The reason that it gives, if its type has one."},
    ),
    EventType(
        "notify",
        "The user gets a notice of this topic.",
        names=get_args(Topic),
        fields={"severity": "`info`, `warning` or `error`.", "message": "Its text."},
    ),
    EventType(
        "explained",
        "The answer got a last sentence that says why the run stopped.",
        names=_REASONS,
    ),
    EventType(
        "end",
        "The run has ended for this reason.",
        names=_REASONS,
        fields={"turns": "Finished turns.", "tokens": "Used tokens."},
    ),
)
