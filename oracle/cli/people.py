"""What a run asks people, and what became of it, on one line; text from outside is made safe."""

import json
from collections.abc import Mapping
from typing import Final

from oracle.cli.text import call_label, one_line
from oracle.core.chunks import Answered, Interrupt

STATES: Final[Mapping[str, str]] = {
    "pending": "waits for an answer",
    "approved": "approved",
    "refused": "refused",
    "edited": "approved with other arguments",
    "answered": "answered",
    "expired": "not answered in time",
    "withdrawn": "not asked any more",
}
_LONGEST: Final = 300


def asked_line(interrupt: Interrupt) -> str:
    """What is asked: `May I write this note? · vault_write path=plan.md · until 2026-11-27T03:47:00Z`."""
    label = interrupt.tool_name and call_label(interrupt.tool_name, interrupt.arguments or {})
    until = f"until {one_line(interrupt.expires_at)}" if interrupt.expires_at else ""
    return " · ".join(filter(None, (one_line(interrupt.message, longest=_LONGEST), label, until)))


def decided_line(answered: Answered) -> str:
    """What was decided: `refused by olga: not there`."""
    interrupt = answered.interrupt
    by = f" by {one_line(interrupt.answered_by)}" if interrupt.answered_by else ""
    answer = answered.answer
    shown = answer if isinstance(answer, str) else "" if answer is None else json.dumps(answer, ensure_ascii=False)
    said = " · ".join(one_line(each, longest=_LONGEST) for each in (shown, answered.comment) if each)
    return f"{STATES[interrupt.status]}{by}{': ' if said else ''}{said}"
