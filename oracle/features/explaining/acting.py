"""Plays a situation: a model that makes its moves, and people that decide as it says.

What the model says can be told apart from what the tree says: its final words begin with `FINAL`, those on the way with
`ON_THE_WAY`, and no tree says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from typing import Any, Final

from bt_runtime import TickRecord
from bt_runtime.text.data import dataclass
from oracle.agent.tool_calls import OWN_CALL
from oracle.core.chunks import Interrupt, ToolCalled
from oracle.features.explaining.situations import Situation, answers_to
from oracle.features.scenarios.model import PersonDecides, SignalLine, Turn
from oracle.features.scenarios.stage import shipped_tools
from oracle.llm.protocol import ModelFault, ModelRequest, ToolDefinition, Usage
from oracle.llm.scripted import ScriptedCall

FINAL: Final = "The answer "
ON_THE_WAY: Final = "On the way "
EDITED: Final = "edited "
"""How a text begins that a person has put in place of the model's."""
LIMITS: Final[Mapping[str, int]] = {"max_iterations": 50, "token_budget": 200_000, "timeout_seconds": 600}
"""The user's, as high as they can be: what stops earlier is the tree."""
_MOST_EVENTS: Final = 5_000
"""So much is kept of what happens in a query."""
_CALLING: Final = ("read", "same", "write")
"""How the names of moves begin that are answers where no tool is offered."""
_SLOW_S: Final = 90.0
_SAME: Final = {"reason": "there is more to read"}
_ENOUGH: Final = SignalLine(type="context_sufficient", confidence=0.9)
_ANNOUNCEMENT: Final = f"{ON_THE_WAY}1. I will read the next file now."
_DOWN: Final = ModelFault("provider_overloaded", "The provider is down.")


@dataclass(slots=True)
class Actor:
    """The model and the people of one situation.

    Args:
        asked_first: names and patterns of the tools that the tree has people approve; the model calls those first.
        named: the tools that the tree names; the model calls those next.
        happened: what has come about of `Situation.needs`.
        writing: the names of the tools that write.
        made: how many turns were asked for.
    """

    situation: Situation
    asked_first: Sequence[str]
    named: frozenset[str]
    writing: frozenset[str]
    seen: list[object] = field(default_factory=list)
    happened: set[str] = field(default_factory=set)
    made: int = 0
    _own: set[str] = field(default_factory=set)

    def speak(self, request: ModelRequest) -> Turn:
        """The next move."""
        moves = self.situation.moves
        move = moves[min(self.made, len(moves) - 1)]
        self.made += 1
        turn = MOVES[move](self, request)
        self.happened.add(move if turn.calls or not move.startswith(_CALLING) else "answer")
        return turn

    def decide(self, interrupt: Interrupt) -> PersonDecides:
        """What the person of the situation decides, as far as that is possible here."""
        wanted, value = self.situation.person, self.situation.value
        if wanted == "late":
            self.happened.add("late")
            return PersonDecides(decision="expire", after_s=1e6)
        if "answer" in interrupt.may:
            self.happened.add("question")
            if wanted == "expire":
                return PersonDecides(decision="expire")
            plain = answers_to(interrupt.response_schema)[0]
            return PersonDecides(decision="answer", value=plain if value is None else value)
        if wanted != "edit" or "edit" in interrupt.may:
            self.happened.add("asked")
        if wanted == "edit" and "edit" in interrupt.may:
            return PersonDecides(decision="edit", value=_edited(interrupt.arguments or {}))
        return PersonDecides(decision="approve" if wanted == "edit" else wanted)  # type: ignore[arg-type]

    def see(self, what: object) -> None:
        """Keep it."""
        if len(self.seen) < _MOST_EVENTS:
            self.seen.append(what)
        if isinstance(what, ToolCalled) and what.tool_call.id.startswith(OWN_CALL):
            self._own.add(what.tool_call.name)
        if isinstance(what, TickRecord) and any(key == "cancel_requested" for key, _ in what.deliveries):
            self.happened.add("cancelled")
        if isinstance(what, str):
            self.happened.add("own" if what in self._own else "tool")

    def call(self, request: ModelRequest, *, writes: bool | None, again: bool = False) -> Turn:
        """A call of an offered tool; an answer if there is none.

        Args:
            request: has the tools that are offered.
            writes: whether it must be one that writes; `None`: one that the tree has people approve, or that writes.
            again: with the same arguments each time.
        """
        tool = None if request.tool_choice == "none" else self._chosen(request.tools, writes)
        if tool is None:
            return MOVES["answer"](self, request)
        arguments = _arguments(tool.input_schema, 0 if again else self.made)
        return Turn(text=f"{ON_THE_WAY}{self.made}.", calls=(ScriptedCall(tool.name, arguments),))

    def _chosen(self, offered: Sequence[ToolDefinition], writes: bool | None) -> ToolDefinition | None:  # noqa: FBT001
        shipped = shipped_tools()
        usable = [tool for tool in offered if not (tool.name in shipped and shipped[tool.name].is_server_side)]
        usable.sort(key=lambda tool: tool.name not in self.named)
        writing = [tool for tool in usable if tool.name in self.writing]
        if writes is None:
            asked = [tool for tool in usable if any(fnmatchcase(tool.name, each) for each in self.asked_first)]
            return next(iter((*asked, *writing, *usable)), None)
        return next(iter(writing if writes else [tool for tool in usable if tool not in writing]), None)


def _said(
    signal: str = "",
    *,
    text: str = FINAL,
    exactly: str = "",
    confidence: float = 0.9,
    fields: Mapping[str, str] | None = None,
    **more: Any,  # noqa: ANN401
) -> Callable[[Actor, ModelRequest], Turn]:
    """A move: words, with the number of the turn, and a signal; `more` is of the `Turn`."""

    def move(actor: Actor, _: ModelRequest) -> Turn:
        said = exactly or actor.situation.said or f"{text}{actor.made}."
        given = fields or ({"reason": f"part {actor.made}"} if signal == "need_turn" else {})
        line = SignalLine(type=signal, fields=given, confidence=confidence) if signal else None
        return Turn(text=said, signal=line, **more)

    return move


def _need_or_read(actor: Actor, request: ModelRequest) -> Turn:
    turn = actor.call(request, writes=False)
    return turn if turn.calls else MOVES["need"](actor, request)


def _read_two(actor: Actor, request: ModelRequest) -> Turn:
    one, other = (actor.call(request, writes=False, again=again) for again in (False, True))
    return replace(one, calls=(*one.calls, *other.calls))


MOVES: Final[Mapping[str, Callable[[Actor, ModelRequest], Turn]]] = {
    "answer": _said("context_sufficient"),
    "plain": _said(),
    "partial": _said("partial_answer"),
    "asks": _said(exactly=f"{FINAL}depends: which of the two files do you mean?"),
    "unsure": _said("context_sufficient", confidence=0.1),
    "malformed": _said(exactly=f'{FINAL}1. <signal type="context_sufficient"><sources_found>'),
    "delegation": _said("delegation_recommended"),
    "capability": _said("need_capability", text=ON_THE_WAY),
    "need": _said("need_turn", text=ON_THE_WAY),
    "lacks_withheld": _said("need_capability", text=ON_THE_WAY, fields={"capability": "web search"}),
    "need_same": _said("need_turn", exactly=f"{ON_THE_WAY}there is more to read in the same file.", fields=_SAME),
    "announce": _said(exactly=_ANNOUNCEMENT),
    "unsure_at_work": _said("context_sufficient", exactly=_ANNOUNCEMENT, confidence=0.1),
    "stuck": _said("stuck", text=ON_THE_WAY),
    "suggests": _said("stuck", text=ON_THE_WAY, fields={"suggestions": "reading the tests"}),
    "empty": lambda _, __: Turn(),
    "cut": _said(text=ON_THE_WAY, stop_reason="max_tokens"),
    "refusal": lambda _, __: Turn(stop_reason="refusal"),
    "read": lambda actor, request: actor.call(request, writes=False),
    "read_enough": lambda actor, request: replace(actor.call(request, writes=False), signal=_ENOUGH),
    "same": lambda actor, request: actor.call(request, writes=False, again=True),
    "write": lambda actor, request: actor.call(request, writes=True),
    "write_or_read": lambda actor, request: actor.call(request, writes=None),
    "need_or_read": _need_or_read,
    "read_two": _read_two,
    "read_to_55": lambda actor, request: _costly(actor.call(request, writes=False), 0.55),
    "read_to_65": lambda actor, request: _costly(actor.call(request, writes=False), 0.65),
    "read_to_80": lambda actor, request: _costly(actor.call(request, writes=False), 0.8),
    "read_to_95": lambda actor, request: _costly(actor.call(request, writes=False), 0.95),
    "full": lambda actor, request: _costly(MOVES["need"](actor, request), 1.05),
    "down": lambda _, __: Turn(fault=_DOWN),
    "broken": _said(text=ON_THE_WAY, fault=_DOWN),
    "hang": _said(text=ON_THE_WAY, hang=True),
    "slow": _said("context_sufficient", delay_s=_SLOW_S),
    "slow_need": _said("need_turn", text=ON_THE_WAY, delay_s=_SLOW_S),
}
"""What the model can do in a turn."""


def _costly(turn: Turn, share: float) -> Turn:
    tokens = int(share * LIMITS["token_budget"])
    return replace(turn, usage=Usage(input_tokens=tokens - 10, output_tokens=10))


def _edited(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments with another text in one place."""
    name = next((name for name, value in arguments.items() if isinstance(value, str)), None)
    return arguments if name is None else {**arguments, name: f"{EDITED}{arguments[name]}"}


def _arguments(schema: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Arguments that fit a tool's schema, others for each number."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    needed: Sequence[str] = schema.get("required") or tuple(properties)[:1] or ("text",)
    found = {name: answers_to(properties.get(name) or {"type": "string"})[0] for name in needed}
    return {name: f"part{number}" if value == "an answer" else value for name, value in found.items()}
