"""What a run asks people, on one line, and what a person decides at the terminal; text from outside is made safe."""

import asyncio
import json
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import click

from bt_runtime.text import iso
from oracle.cli.text import call_label, clean, one_line
from oracle.core.chunks import Answered, ApprovalRequested, Chunk, Interrupt, QuestionAsked
from oracle.core.logs import is_interactive

STATES: Final[Mapping[str, str]] = {
    "pending": "waits for an answer",
    "approved": "approved",
    "refused": "refused",
    "edited": "approved with other arguments",
    "answered": "answered",
    "expired": "not answered in time",
    "withdrawn": "no longer asked",
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


Read = Callable[[str], str]
"""Shows a question, and reads a line; empty: later."""

_LATER: Final = "Enter: later"
_CHOICES: Final[Mapping[str, tuple[str, str]]] = {"approve": ("y", "yes"), "refuse": ("n", "no"), "edit": ("e", "edit")}


def can_decide() -> bool:
    """Whether a person at this terminal can be asked."""
    return is_interactive(sys.stdin) and is_interactive(sys.stderr)


def read_line(prompt: str) -> str:
    """A line from the terminal; empty at its end."""
    click.echo(prompt, nl=False, err=True)
    return sys.stdin.readline().strip()


def decide(interrupt: Mapping[str, Any], read: Read = read_line) -> dict[str, Any] | None:
    """Ask for a decision about an interrupt, whose message is on the screen; `None`: later.

    Args:
        interrupt: its object.
        read: asks, and reads a line.
    """
    may: Sequence[str] = interrupt["may"]
    if interrupt.get("arguments") is not None:
        click.echo(clean(json.dumps(interrupt["arguments"], indent=2, ensure_ascii=False)), err=True)
    if "answer" in may:
        answer = _value(interrupt["response_schema"], read)
        return None if answer is None else {"decision": "answer", "answer": answer}
    choices = {key: (name, words) for name, (key, words) in _CHOICES.items() if name in may}
    if "approve" in may and interrupt.get("tool_name") and interrupt.get("answerers", "user") == "user":
        choices["c"] = ("approve", "yes, in this conversation")
    shown = ", ".join(f"{key}: {words}" for key, (_, words) in choices.items())
    while (given := read(f"{shown}, {_LATER}> ")) not in choices:
        if not given:
            return None
    decision = choices[given][0]
    if decision == "edit":
        arguments = _value(interrupt["response_schema"], read, what="All arguments, as JSON")
        return None if arguments is None else {"decision": decision, "arguments": arguments}
    comment = read("Why? (Enter: no comment)> ") if decision == "refuse" else ""
    scope = {"for": "conversation"} if given == "c" else {}
    return {"decision": decision, **({"comment": comment} if comment else {}), **scope}


def _value(schema: Mapping[str, Any], read: Read, *, what: str = "") -> Any:  # noqa: ANN401  JSON data
    """A value that the schema admits; a text is taken as it is written. `None`: later."""
    from oracle.core.json_schemas import misfits  # noqa: PLC0415  few questions come so far

    is_text = schema.get("type") == "string"
    options = schema.get("enum")
    if options:
        what = f"One of {clean(', '.join(map(str, options)))}"
    while text := read(f"{what or ('Answer' if is_text else 'Answer, as JSON')} ({_LATER})> "):
        try:
            value = text if is_text else json.loads(text)
            problems = [each.problem for each in misfits(schema, value)]
        except (ValueError, RecursionError) as error:
            problems = [str(error)]
        if not problems:
            return value
        click.echo(clean(f"This is not valid: {'; '.join(problems)}"[:500]), err=True)
    return None


class Prompter:
    """Has the person at the terminal decide what a query asks, one thing after the other.

    A thread of its own reads the terminal; nobody waits for it, so that the query can be cancelled. What the person
    does not decide, or what nobody can be asked, counts as not answered in time.

    Args:
        deliver: gives the query a decision, by the id of what was asked.
        clear: makes room on the screen.
        ask: asks for a decision; `None`: nobody can be asked.
    """

    def __init__(
        self,
        deliver: Callable[[Mapping[str, Any]], None],
        *,
        clear: Callable[[], None],
        ask: Callable[[Mapping[str, Any]], dict[str, Any] | None] | None,
    ) -> None:
        self._deliver = deliver
        self._clear = clear
        self._ask = ask
        self._loop = asyncio.get_running_loop()
        self._asked: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self._is_reading = False

    def take(self, chunk: Chunk) -> None:
        """Take a chunk of the query, which was shown."""
        if not isinstance(chunk, ApprovalRequested | QuestionAsked):
            return
        interrupt = chunk.interrupt.to_wire()
        if self._ask is None:
            self._loop.call_soon(self._decided, interrupt["id"], None)
            return
        self._loop.call_soon(self._put, interrupt, self._ask)  # when the chunk is on the screen

    def _put(self, interrupt: Mapping[str, Any], ask: Callable[[Mapping[str, Any]], dict[str, Any] | None]) -> None:
        self._clear()
        self._asked.put(interrupt)
        if not self._is_reading:
            self._is_reading = True
            threading.Thread(target=self._read, args=(ask,), name="prompter", daemon=True).start()

    def _read(self, ask: Callable[[Mapping[str, Any]], dict[str, Any] | None]) -> None:
        while True:
            interrupt = self._asked.get()
            decision = ask(interrupt)
            try:
                self._loop.call_soon_threadsafe(self._decided, interrupt["id"], decision)
            except RuntimeError:  # the query has ended
                return

    def _decided(self, interrupt_id: str, decision: Mapping[str, Any] | None) -> None:
        given = {"decision": "expire", "for": "once", **(decision or {})}
        self._deliver({interrupt_id: {**given, "by": "local", "at": iso(time.time())}})
