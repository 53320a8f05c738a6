"""What agents have in common: what they know, what is left to look at, and how they speak."""

import re
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from benchmarks.habits.advice import Advice, heeded
from benchmarks.habits.tasks import Fact, Task
from benchmarks.habits.view import View
from benchmarks.habits.world_code import CODE
from benchmarks.habits.world_notes import NOTES
from oracle.testing import ScriptedCall, ScriptedTurn

SEARCH = {"code": "search_code", "vault": "vault_search", "thread": "thread_seek", "web": "web_search"}
READ = {"code": ("read_file", "path"), "vault": ("vault_read", "path"), "thread": ("thread_read", "thread")}
_GOES_ON = re.compile(r"go on with \w+\(path='([^':]+)(?:', start_line=|:)(\d+)")


def signal_xml(signal_type: str, *, confidence: float = 0.9, **fields: object) -> str:
    """A signal as it stands at the end of a reply."""
    inner = "".join(f"<{name}>{value}</{name}>" for name, value in fields.items())
    return f'\n\n<signal type="{signal_type}">{inner}<confidence>{confidence}</confidence></signal>'


def says(text: str = "", *calls: ScriptedCall) -> ScriptedTurn:
    """A turn."""
    return ScriptedTurn(text=text, tool_calls=calls)


def needs_turn(text: str, reason: str) -> ScriptedTurn:
    """A reply that asks for another turn."""
    return says(text + signal_xml("need_turn", reason=reason))


@dataclass(frozen=True)
class Mind:
    """An agent before a turn: all that it does is a function of this.

    Args:
        view: the request.
        task: the conversation.
        seed: of the agent; what it does at random depends on it alone.
        obedience: the share of the control's notes that it obeys.
    """

    view: View
    task: Task
    seed: str
    obedience: float

    @cached_property
    def advice(self) -> Advice:
        return heeded(self.view.notes, last_turn=self.view.turn - 1, seed=self.seed, obedience=self.obedience)

    @cached_property
    def known(self) -> tuple[Fact, ...]:
        """The facts of the answer that the agent has come across."""
        seen = self.view.seen
        return tuple(fact for fact in self.view.question.facts if self._knows(fact, seen))

    @property
    def missing(self) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.view.question.facts if fact not in self.known)

    def amount(self, least: int, most: int) -> int:
        """How far the agent's habit goes."""
        return Random(self.seed).randint(least, most)

    def looks(self, width: int = 1) -> list[ScriptedCall]:
        """The next calls that the answer needs, one for each missing fact; none if nothing is left to try."""
        found: list[ScriptedCall] = []
        for fact in self.missing:
            call = self._look(fact)
            if call is not None and call not in found:
                found.append(call)
        return found[:width]

    def sensible(self, width: int = 1) -> ScriptedTurn:
        """What an agent without habits does now."""
        calls = self.looks(width)
        return says("", *calls) if calls else self.answer()

    def answer(self, *, with_signal: bool = True) -> ScriptedTurn:
        """Say what is known, and what is missing; ask for a tool where only that is lacking."""
        missing = self.missing
        withheld = sorted(
            {group for fact in missing for group in fact.groups if SEARCH[group] not in self.view.offered}
        )
        text = self.facts_said()
        if not missing:
            end = signal_xml("context_sufficient", sources_found=max(1, len(self.known)))
        elif withheld and not any("need_capability" in reply for reply in self.view.replies):
            tools = " and ".join(withheld)
            text = f"I cannot answer this without a look into {tools}."
            end = signal_xml("need_capability", capability=f"a search in {tools}", reason="the answer is there")
        else:
            end = signal_xml("partial_answer", missing=", ".join(fact.key for fact in missing))
        return says(text + (end if with_signal else ""))

    def facts_said(self) -> str:
        """The answer, as far as the facts are known."""
        lines = [f"- {fact.key}: {fact.token}" for fact in self.known]
        return "\n".join(lines) or "I have not found an answer."

    def elsewhere(self, width: int = 1) -> list[ScriptedCall]:
        """Calls that look at what the answer does not need: another file or note each time."""
        pool = [("read_file", {"path": path}) for path in CODE]
        pool += [("vault_read", {"path": path}) for path in NOTES]
        pool += [
            ("web_search", {"query": f"{word} overview"}) for word in ("PostgreSQL", "Python", "Kubernetes", "ZPL")
        ]
        offered = [each for each in pool if each[0] in self.view.offered]
        Random(self.seed).shuffle(offered)
        sources = {place.partition(":")[2] for fact in self.view.question.facts for place in fact.places}
        fresh = [
            ScriptedCall(tool, arguments)
            for tool, arguments in offered
            if not self.view.has_called(tool, **arguments) and arguments.get("path") not in sources
        ]
        return fresh[:width]

    def _knows(self, fact: Fact, seen: str) -> bool:
        if fact.exists:
            return not fact.places or fact.token in seen
        return all(any(call.tool == SEARCH[group] and call.was_run for call in self.view.made) for group in fact.groups)

    def _look(self, fact: Fact) -> ScriptedCall | None:
        if fact.write is not None:
            return self._write(fact)
        for place in fact.places:
            group, _, path = place.partition(":")
            if SEARCH[group] not in self.view.offered:
                continue
            call = self._read(group, path) or self._search(group, fact)
            if call is not None:
                return call
        return None

    def _write(self, fact: Fact) -> ScriptedCall | None:
        assert fact.write is not None
        tool, arguments = fact.write
        is_first = tool in self.view.offered and not self.view.has_called(tool, **dict(arguments))
        return ScriptedCall(tool, dict(arguments)) if is_first and self.missing == (fact,) else None

    def _read(self, group: str, path: str) -> ScriptedCall | None:
        """Read on in a file whose path is known."""
        if group not in READ or not path or path not in self.view.seen:
            return None
        tool, argument = READ[group]
        done = [call for call in self.view.made if call.tool == tool and call.arguments.get(argument) == path]
        if not done:
            return ScriptedCall(tool, {argument: path})
        goes_on = _GOES_ON.search(done[-1].text)
        if goes_on is None or group != "code" or done[-1].arguments.get("start_line") == int(goes_on[2]):
            return None
        return ScriptedCall(tool, {argument: path, "start_line": int(goes_on[2])})

    def _search(self, group: str, fact: Fact) -> ScriptedCall | None:
        tool = SEARCH[group]
        words = fact.words if fact.exists else fact.words[:1]
        queries: list[dict[str, Any]] = [{"query": query} for query in words]
        return next((ScriptedCall(tool, each) for each in queries if not self.view.has_called(tool, **each)), None)
