"""Plays situations on one tree, with the real control and without waiting."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from bt_runtime import Registry, TreeDefinition
from bt_runtime.language.kind import CALLS_HOST
from bt_runtime.testing import FakeClock
from bt_runtime.text.data import dataclass
from oracle.features.explaining.acting import LIMITS, Actor
from oracle.features.explaining.situations import Situation, fixed_situations
from oracle.features.rules.stream import ask_labels
from oracle.features.scenarios.model import DEFAULT_QUESTION, Earlier, Scenario, ToolScript
from oracle.features.scenarios.played import Played
from oracle.features.scenarios.playing import Player
from oracle.features.scenarios.stage import Moments, StagedTools, shipped_tools
from oracle.features.verifier.properties import named as named_by
from oracle.features.verifier.properties import policies_of
from oracle.tools.protocol import WRITES


@dataclass(frozen=True, slots=True)
class Performance:
    """What happened in a situation.

    Args:
        seen: in order: chunks, outcomes, tick records, the number of each request, the name of each tool that began.
        writing: the names of the tools that write.
        labels: what the tools read and where they write; `None`: no rule asks.
    """

    situation: Situation
    played: Played
    seen: Sequence[object]
    writing: frozenset[str]
    labels: Mapping[str, tuple[str, ...]] | None


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
        self._player = Player(OneTree(tree, registry))
        self.domain = self._player.domain
        self._asked = tuple(each.tool for each in policies_of(tree))
        shipped, labelled = shipped_tools(), dict(tree.labels)
        named = {name for name in (*self._asked, *labelled, *named_by(tree, "tool")) if not set(name) & set("*?[")}
        self._own = {str(getattr(node.settings, "call", "")) for node in tree.nodes() if node.has(CALLS_HOST)}
        self._tools = {name for name, tool in shipped.items() if not tool.is_server_side} | self._own | named
        reading = {name for name, words in labelled.items() if words.isdisjoint({*WRITES, *WRITES.values()})}
        self._writing = {name for name, tool in shipped.items() if tool.writes} | (named - shipped.keys() - reading)
        self._named = frozenset(named)
        self._labels = self._flows() if ask_labels(tree.rules) else None

    def play(self, situation: Situation, *, until_s: float = inf) -> Performance | None:
        """Play a situation; `None` if it does not come about.

        Args:
            situation: what happens.
            until_s: the time, as `time.monotonic` has it, at which it is given up.

        Raises:
            EndlessError: it was given up.
            UserError, PlayError: the tree cannot be played.
        """
        actor = Actor(situation, self._asked, self._named, frozenset(self._writing))
        self._player.patience_s = max(0.0, until_s - time.monotonic())
        played = self._player.play(self._scenario(situation), actor)
        if situation.needs and actor.happened.isdisjoint(situation.needs):
            return None
        return Performance(situation, played, actor.seen, frozenset(self._writing), self._labels)

    def _flows(self) -> Mapping[str, tuple[str, ...]]:
        """What each tool reads and where it writes, with what the tree says of it."""
        clock = FakeClock()
        tools = StagedTools(self._scenario(fixed_situations()[0]), clock, Moments(clock)).tools()
        return {tool.name: replace(tool, labels=tool.labels_with(self.tree.labels)).flows for tool in tools}

    def _scenario(self, situation: Situation) -> Scenario:
        def script(name: str) -> ToolScript:
            answers = (situation.own,) if name in self._own and situation.own else situation.tools
            return ToolScript(answers=answers, writes=name in self._writing)

        return Scenario(
            name=situation.id,
            tree=self.tree.name,
            question=situation.question or DEFAULT_QUESTION,
            limits=LIMITS,
            history=(Earlier(question="Where is it?", answer="In src/retry.py."),) if situation.is_second else (),
            tools={name: script(name) for name in self._tools},
            events=situation.events,
        )
