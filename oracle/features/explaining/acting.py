"""Plays a situation: a model that makes its moves, and people that decide as it says.

What the model says can be told apart from what the tree says: its final words begin with `FINAL`, those on the way with
`ON_THE_WAY`, and no tree says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Any, Final

from bt_runtime import Registry, TickRecord, TreeDefinition
from bt_runtime.language.kind import CALLS_HOST
from bt_runtime.text.data import dataclass
from oracle.agent.tool_calls import OWN_CALL
from oracle.core.chunks import Interrupt, ToolCalled
from oracle.features.explaining.situations import Situation, answers_to
from oracle.features.scenarios.model import (
    DEFAULT_QUESTION,
    Earlier,
    PersonDecides,
    Scenario,
    SignalLine,
    ToolScript,
    Turn,
)
from oracle.features.scenarios.played import Played
from oracle.features.scenarios.playing import EndlessError, Player
from oracle.features.scenarios.stage import shipped_tools
from oracle.features.verifier.properties import policies_of
from oracle.llm.protocol import ModelFault, ModelRequest, ToolDefinition, Usage
from oracle.llm.scripted import ScriptedCall

FINAL: Final = "The answer "
ON_THE_WAY: Final = "On the way "
EDITED: Final = "edited "
"""How a text begins that a person has put in place of the model's."""
LIMITS: Final[Mapping[str, int]] = {"max_iterations": 50, "token_budget": 200_000, "timeout_seconds": 600}
"""The user's, as high as they can be: what stops earlier is the tree."""
PATIENCE_S: Final = 3.0
"""Real seconds after which a query counts as endless."""
_MOST_EVENTS: Final = 5_000
"""So much is kept of what happens in a query."""
_SLOW_S: Final = 90.0
_DOWN: Final = ModelFault("provider_overloaded", "The provider is down.")
_EARLIER: Final = Earlier(question="Where is the retry?", answer="In src/retry.py.")


@dataclass(frozen=True, slots=True)
class Performance:
    """What happened in a situation.

    Args:
        played: `None`: it never ended.
        seen: in order: chunks, outcomes, tick records, the number of each request, the name of each tool that began.
        writing: the names of the tools that write.
    """

    situation: Situation
    played: Played | None
    seen: Sequence[object]
    writing: frozenset[str]


@dataclass(slots=True)
class Actor:
    """The model and the people of one situation.

    Args:
        asked_first: names and patterns of the tools that the tree has people approve; the model calls those first.
        happened: what has come about of `Situation.needs`.
        writing: the names of the tools that write.
        made: how many turns were asked for.
    """

    situation: Situation
    asked_first: Sequence[str]
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
        self.happened.add(move)
        return MOVES[move](self, request)

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
            again: with the same arguments as before.
        """
        tool = None if request.tool_choice == "none" else self._chosen(request.tools, writes)
        if tool is None:
            self.happened -= {"read", "write", "same", "half", "write_or_read", "read_or_need"}
            self.happened.add("answer")
            return MOVES["answer"](self, request)
        arguments = _arguments(tool.input_schema, 1 if again else self.made)
        return Turn(text=f"{ON_THE_WAY}{self.made}.", calls=(ScriptedCall(tool.name, arguments),))

    def _chosen(self, offered: Sequence[ToolDefinition], writes: bool | None) -> ToolDefinition | None:  # noqa: FBT001
        shipped = shipped_tools()
        usable = [tool for tool in offered if not (tool.name in shipped and shipped[tool.name].is_server_side)]
        writing = [tool for tool in usable if tool.name in self.writing]
        if writes is None:
            asked = [tool for tool in usable if any(fnmatchcase(tool.name, each) for each in self.asked_first)]
            return next(iter((*asked, *writing, *usable)), None)
        return next(iter(writing if writes else [tool for tool in usable if tool not in writing]), None)


def _said(signal: str = "", *, text: str = FINAL, **more: Any) -> Callable[[Actor, ModelRequest], Turn]:  # noqa: ANN401
    """A move: words, with the number of the turn, and a signal."""

    def move(actor: Actor, _: ModelRequest) -> Turn:
        said = actor.situation.said or f"{text}{actor.made}."
        if signal == "need_turn" and "same" not in more:
            line = SignalLine(type=signal, fields={"reason": f"part {actor.made}"})
        else:
            line = SignalLine(type=signal, confidence=more.get("confidence", 0.9))
        given = {name: value for name, value in more.items() if name not in ("same", "confidence")}
        return Turn(text=more.get("exactly", said), signal=line if signal else None,
                    **{name: value for name, value in given.items() if name != "exactly"})  # fmt: skip

    return move


def _read_or_need(actor: Actor, request: ModelRequest) -> Turn:
    turn = actor.call(request, writes=False)
    return turn if turn.calls else MOVES["need"](actor, request)


MOVES: Final[Mapping[str, Callable[[Actor, ModelRequest], Turn]]] = {
    "answer": _said("context_sufficient"),
    "plain": _said(),
    "say": _said(),
    "partial": _said("partial_answer"),
    "asks": _said(exactly=f"{FINAL}depends: which of the two files do you mean?"),
    "unsure": _said("context_sufficient", confidence=0.1),
    "malformed": _said(exactly=f'{FINAL}1. <signal type="context_sufficient"><sources_found>'),
    "delegation": _said("delegation_recommended"),
    "capability": _said("need_capability", text=ON_THE_WAY),
    "need": _said("need_turn", text=ON_THE_WAY),
    "need_same": _said("need_turn", exactly=f"{ON_THE_WAY}there is more to read in the same file.", same=True),
    "announce": _said(exactly=f"{ON_THE_WAY}I will read the next file now."),
    "stuck": _said("stuck", text=ON_THE_WAY),
    "empty": lambda _, __: Turn(),
    "cut": _said(text=ON_THE_WAY, stop_reason="max_tokens"),
    "refusal": lambda _, __: Turn(stop_reason="refusal"),
    "read": lambda actor, request: actor.call(request, writes=False),
    "same": lambda actor, request: actor.call(request, writes=False, again=True),
    "write": lambda actor, request: actor.call(request, writes=True),
    "write_or_read": lambda actor, request: actor.call(request, writes=None),
    "read_or_need": _read_or_need,
    "half": lambda actor, request: _costly(actor.call(request, writes=False), 0.55),
    "full": lambda actor, request: _costly(MOVES["need"](actor, request), 1.05),
    "down": lambda _, __: Turn(fault=_DOWN),
    "broken": _said(text=ON_THE_WAY, fault=_DOWN),
    "hang": _said(text=ON_THE_WAY, hang=True),
    "slow": _said("context_sufficient", delay_s=_SLOW_S),
}
"""What the model can do in a turn."""


def _costly(turn: Turn, share: float) -> Turn:
    tokens = int(share * LIMITS["token_budget"])
    return Turn(text=turn.text, signal=turn.signal, calls=turn.calls,
                usage=Usage(input_tokens=tokens - 10, output_tokens=10))  # fmt: skip


def _edited(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments with another text in one place."""
    name = next((name for name, value in arguments.items() if isinstance(value, str)), None)
    return arguments if name is None else {**arguments, name: f"{EDITED}{arguments[name]}"}


def _arguments(schema: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Arguments that fit a tool's schema, others for each number."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    needed: Sequence[str] = schema.get("required") or tuple(properties)[:1]
    found = {name: answers_to(properties.get(name) or {"type": "string"})[0] for name in needed}
    return {name: f"part{number}" if value == "an answer" else value for name, value in found.items()}


@dataclass(frozen=True, slots=True)
class OneTree:
    """Where a tree is found that need not have a file."""

    tree: TreeDefinition
    registry: Registry

    def names(self) -> tuple[str, ...]:
        """Its name."""
        return (self.tree.name,)

    def load(self, name: str) -> TreeDefinition:  # noqa: ARG002  there is one
        """The tree."""
        return self.tree

    def is_internal(self, name: str) -> bool:  # noqa: ARG002
        """Only whole trees are played."""
        return False


class Stage:
    """Plays situations on one tree.

    Args:
        tree: a whole tree, without parameters that it needs.
        registry: the kinds that it was read with.
    """

    def __init__(self, tree: TreeDefinition, registry: Registry) -> None:
        self.tree = tree
        self._player = Player(OneTree(tree, registry), patience_s=PATIENCE_S)
        self.domain = self._player.domain
        self._asked = tuple(each.tool for each in policies_of(tree))
        shipped = shipped_tools()
        named = {each for each in self._asked if not set(each) & set("*?[")}
        self._own = {str(getattr(node.settings, "call", "")) for node in tree.nodes() if node.has(CALLS_HOST)}
        self._tools = {name for name, tool in shipped.items() if not tool.is_server_side} | self._own | named
        self._writing = {name for name, tool in shipped.items() if tool.writes} | (named - shipped.keys())

    def play(self, situation: Situation) -> Performance | None:
        """Play a situation; `None` if it does not come about.

        Raises:
            UserError, PlayError: the tree cannot be played.
        """
        actor = Actor(situation, self._asked, frozenset(self._writing))
        try:
            played = self._player.play(self._scenario(situation), actor)
        except EndlessError:
            played = None
        if situation.needs and actor.happened.isdisjoint(situation.needs):
            return None
        return Performance(situation, played, actor.seen, frozenset(self._writing))

    def _scenario(self, situation: Situation) -> Scenario:
        def script(name: str) -> ToolScript:
            answers = (situation.own,) if name in self._own and situation.own else situation.tools
            return ToolScript(answers=answers, writes=name in self._writing)

        return Scenario(
            name=situation.id,
            tree=self.tree.name,
            question=situation.question or DEFAULT_QUESTION,
            limits=LIMITS,
            history=(_EARLIER,) if situation.is_second else (),
            tools={name: script(name) for name in self._tools},
            events=situation.events,
        )
