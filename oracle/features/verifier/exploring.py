"""Breadth-first exploration of all behaviours of a tree: every state once, the shortest way to each.

States of equal identity are one state. From each, every event that can happen is played, and each property is checked
after it. So the first violation of a property is one of the shortest.

Two states that differ only in how many tokens are used, and in values on the blackboard, do the same if none of the
events of the first has led to anything by those: no node has read them, and nothing that can still be ticked does. This
is found out while the first is expanded. It is mostly so before the last turn: nothing begins after it.
"""

import resource
import sys
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import field
from math import inf
from typing import Final

from bt_runtime.text.data import dataclass
from oracle.features.verifier.events import Event
from oracle.features.verifier.identity import Identity
from oracle.features.verifier.options import Options
from oracle.features.verifier.properties import ENDS, Property
from oracle.features.verifier.world import Saved, World


@dataclass(slots=True)
class Sample:
    """The state that is expanded, and what those have shown that were.

    Args:
        keys: the keys ahead of the state, in the order of its values.
    """

    keys: tuple[str, ...] = ()
    _parts: tuple[Hashable, tuple[Hashable, ...]] | None = None
    _is_blind: bool = False
    _read: set[str] = field(default_factory=set)
    _known: dict[Hashable, list[tuple[dict[int, Hashable], int]]] = field(default_factory=dict)
    _split: Identity | None = None

    def begin(self, identity: Identity, state: Hashable) -> None:
        """A state is about to be expanded.

        Args:
            identity: splits identities.
            state: its identity.
        """
        self._split, self._parts = identity, identity.split(state)
        self._is_blind = self._parts is not None
        self._read.clear()

    def note(self, world: World, identity: Identity) -> None:
        """Note what the last event has led to: by which keys, and whether by tokens."""
        if not self._is_blind:
            return
        self._is_blind = is_blind(world, identity)
        self._read |= world.read | world.written
        if not world.progress.is_over:
            self._read.update(identity.ahead().keys)

    def keep(self, state: int) -> None:
        """The state is expanded."""
        if self._is_blind and self._parts is not None:
            rest, values = self._parts
            decisive = {at: values[at] for at, key in enumerate(self.keys) if key in self._read}
            self._known.setdefault(rest, []).append((decisive, state))

    def like(self, state: Hashable) -> int | None:
        """The expanded state that has shown what one of this identity does; `None` if there is none."""
        parts = self._split.split(state) if self._split is not None else None
        if parts is None:
            return None
        rest, values = parts
        return next(
            (
                state
                for decisive, state in self._known.get(rest, ())
                if all(values[at] == value for at, value in decisive.items())
            ),
            None,
        )


def is_blind(world: World, identity: Identity) -> bool:
    """Whether the last event has led to the same as with other tokens used, and nothing that they bound follows."""
    if world.tokens.has_read_figures or world.tokens.decide(world.agent.state, world.read):
        return False
    return world.progress.is_over or not identity.ahead().counts_tokens


DEFAULT_STATES: Final = 20_000
"""So many are explored in some four minutes, before the bound of time: so the verdict is the same on most machines."""
DEFAULT_SECONDS: Final = 300.0
DEFAULT_MEGABYTES: Final = 2_000
_KILO: Final = 1024
_LOOK_EVERY = 256  # transitions between two looks at clock and memory


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where an exploration stops without a result.

    Args:
        states: different ones.
        seconds: of the process's own CPU time, which the other work of a machine hardly changes.
    """

    states: int = DEFAULT_STATES
    seconds: float = DEFAULT_SECONDS
    megabytes: float = DEFAULT_MEGABYTES


@dataclass(frozen=True, slots=True)
class PropertyViolation:
    """A violation.

    Args:
        events: from the question to the violation.
        repeats: how many of the last events repeat without end; 0 if the violation is at the end.
    """

    problem: str
    events: tuple[Event, ...]
    repeats: int = 0


@dataclass(slots=True)
class Explored:
    """The result of an exploration.

    Args:
        found: the first violations of each property that differ, by its name.
        visited: the indices of the nodes that were ticked.
        stopped: the bound that stopped it, or the interruption; empty if everything was explored.
    """

    states: int = 0
    transitions: int = 0
    ends: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    found: dict[str, tuple[PropertyViolation, ...]] = field(default_factory=dict)
    visited: frozenset[int] = frozenset()
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Headway:
    """How far an exploration has come.

    Args:
        turns: the limit of turns of the runs that are explored.
        states: different ones so far.
        waiting: those of them from which nothing was played yet.
        transitions: events that were played.
        refuted: the names of the properties that a run has violated.
    """

    turns: int
    states: int
    waiting: int
    transitions: int
    refuted: tuple[str, ...]


Watch = Callable[[Headway], bool]
"""Called several times a second; false stops the exploration."""

MOST_STORIES: Final = 3
"""Of one property."""

INTERRUPTED: Final = "an interruption"


def why_stopped(stopped: str) -> str:
    """Why an exploration is not complete, in words (`Explored.stopped`)."""
    return "interrupted" if stopped == INTERRUPTED else f"stopped at {stopped}"


@dataclass(frozen=True, slots=True)
class _State:
    """How a state was reached."""

    before: int
    event: Event


class Exploration:
    """Explores one tree.

    Args:
        world: the run; it is used up.
        identity: tells its states apart.
        begins: the first events.
        bounds: where to stop.
        extra: further parts of a state's identity.
        stop_early: stop at the first violation.
    """

    def __init__(
        self,
        world: World,
        *,
        identity: Identity,
        options: Options,
        properties: Sequence[Property],
        begins: Iterable[Event],
        bounds: Bounds,
        extra: Callable[[], Hashable] = lambda: None,
        stop_early: bool = False,
    ) -> None:
        self.world, self.identity, self.options = world, identity, options
        self._checks = {each.name: each.check for each in properties if each.check is not None}
        self.begins, self._bounds, self.extra, self._stop_early = tuple(begins), bounds, extra, stop_early
        self._at_the_end = frozenset(each.name for each in properties if each.is_of_end)
        self._kinds_found: set[Hashable] = set()
        self.watch: Watch = lambda _: True
        self._states: list[_State] = []
        self._known: dict[Hashable, int] = {}
        self._identities: list[Hashable] = []
        self.sample = Sample()
        self._next: list[list[int]] = []
        self._waiting: deque[tuple[int, Saved]] = deque()
        self._result = Explored()

    def run(self, *, until_s: float = inf) -> Explored:
        """Explore until everything is known, or a bound is reached.

        Args:
            until_s: the CPU time of the process (`time.process_time`) at which the bound of seconds is reached.
        """
        result, began_s = self._result, time.monotonic()
        first = self.world.save()
        for event in self.begins:
            self.world.restore(first)
            self.world.play(event)
            self._arrive(-1, event, self.identity.of(self.extra()))
        while self._waiting and not result.stopped and not (self._stop_early and result.found):
            self._expand(*self._waiting.popleft(), until_s=until_s)
        result.states = len(self._states)
        result.visited = frozenset(self.world.visited)
        if ENDS.name in self._checks and ENDS.name not in result.found:
            self._look_for_cycles()
        result.seconds, result.megabytes = time.monotonic() - began_s, _megabytes()
        return result

    def _expand(self, state: int, saved: Saved, *, until_s: float) -> None:
        """Play everything that can happen in a state, unless another one has shown that already."""
        twin = self.sample.like(self._identities[state])
        if twin is not None:
            self._next[state] = self._next[twin]
            return
        self.sample.begin(self.identity, self._identities[state])
        for event, identity in self.following(saved):
            self.sample.note(self.world, self.identity)
            self._arrive(state, event, identity)
            if self._result.transitions % _LOOK_EVERY == 0 and not self._result.stopped:
                self._result.stopped = self._exceeded(until_s)
        self.sample.keep(state)

    def following(self, saved: Saved) -> Iterator[tuple[Event, Hashable]]:
        """Play everything that can happen in a state; yields each event and the identity of the state it has led to.

        While the consumer has them, the world is in that state.
        """
        world, options = self.world, self.options
        world.restore(saved)
        self.sample.keys = self.identity.ahead().keys
        alike = options.alike(world)
        todo, played = list(options.of(world))[::-1], set[Event]()
        while todo:
            event = alike.plainest(todo.pop())
            if event in played:
                continue
            played.add(event)
            world.restore(saved)
            world.play(event)
            ahead = None if world.progress.is_over else self.identity.ahead()
            todo += options.variants(world, event, ahead)
            identity = self.identity.of(self.extra())
            yield event, identity

    def _exceeded(self, until_s: float) -> str:
        bounds = self._bounds
        if not self.goes_on():
            return INTERRUPTED
        if len(self._states) >= bounds.states:
            return f"{bounds.states:,} states"
        if time.process_time() >= until_s:
            return f"{bounds.seconds:g} s of CPU time"
        return f"{bounds.megabytes:g} MB" if _megabytes() >= bounds.megabytes else ""

    def goes_on(self) -> bool:
        """Tell how far it has come; false if it is to stop."""
        result = self._result
        counts = (self.world.turn_limit, len(self._states), len(self._waiting), result.transitions)
        return self.watch(Headway(*counts, tuple(result.found)))

    def _arrive(self, before: int, event: Event, identity: Hashable) -> None:
        """Check the state that an event has led to, and keep it if it is new."""
        world, result = self.world, self._result
        result.transitions += 1
        for name, check in self._checks.items():
            found = result.found.get(name, ())
            if len(found) < MOST_STORIES and (problem := check(world)):
                self._note(name, problem, before, event)
        if world.progress.is_over:
            result.ends += 1
            return
        at = self._known.get(identity)
        if at is None:
            at = self._known[identity] = len(self._states)
            self._states.append(_State(before, event))
            self._identities.append(identity)
            self._next.append([])
            if at < self._bounds.states:
                self._waiting.append((at, world.save()))
            else:
                result.stopped = f"{self._bounds.states:,} states"
        if before >= 0 and at not in self._next[before]:
            self._next[before].append(at)

    def _note(self, name: str, problem: str, before: int, event: Event) -> None:
        """Keep a violation, unless one like it is known: the same is wrong, or the same nodes have led to the end."""
        world, found = self.world, self._result.found.get(name, ())
        kind = (
            problem.splitlines()[0],
            tuple(world.path) if world.progress.is_over and name in self._at_the_end else (),
        )
        if (name, kind) not in self._kinds_found:
            self._kinds_found.add((name, kind))
            self._result.found[name] = (*found, PropertyViolation(problem, (*self._way_to(before), event)))

    def _way_to(self, state: int) -> Iterator[Event]:
        """The events from the question to a state."""
        way = []
        while state >= 0:
            way.append(self._states[state].event)
            state = self._states[state].before
        yield from reversed(way)

    def _look_for_cycles(self) -> None:
        """A way back to a state that has been: nothing counts up on it, so the tree can repeat it without end."""
        cycle = _shortest_cycle(self._next)
        if cycle is None:
            return
        events = []
        for state, following in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
            events.append(self._event_between(state, following))
        problem = "this goes round without an end; only the floor's bound on free steps stops it"
        self._result.found[ENDS.name] = (PropertyViolation(problem, (*self._way_to(cycle[0]), *events), len(events)),)

    def _event_between(self, state: int, following: int) -> Event:
        """An event that leads from one state to another, by playing the way again."""
        world = self.world
        world.begin_again()
        for event in self._way_to(state):
            world.play(event)
        saved = world.save()
        for event in self.options.of(world):
            world.restore(saved)
            world.play(event)
            if not world.progress.is_over and self._known.get(self.identity.of(self.extra())) == following:
                return event
        return self._states[following].event


def _megabytes() -> float:
    """The most memory that the process has had; macOS counts it in bytes, other systems in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (_KILO * _KILO if sys.platform == "darwin" else _KILO)


def _shortest_cycle(following: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """The shortest cycle through the earliest state that is on one; `None` if there is no cycle.

    Args:
        following: the states that follow each state; states are numbered in the order in which they were found.
    """
    left = _without_ends(following)
    for state in left:
        cycle = _back_to(state, following, left)
        if cycle is not None:
            return cycle
    return None


def _without_ends(following: Sequence[Sequence[int]]) -> list[int]:
    """The states that lead to a cycle: the others are removed, those without a successor first."""
    count = [len(set(each)) for each in following]
    before: list[list[int]] = [[] for _ in following]
    for state, nexts in enumerate(following):
        for each in set(nexts):
            before[each].append(state)
    ended = [state for state, each in enumerate(count) if each == 0]
    is_left = [True] * len(following)
    while ended:
        state = ended.pop()
        is_left[state] = False
        for each in before[state]:
            count[each] -= 1
            if count[each] == 0:
                ended.append(each)
    return [state for state, each in enumerate(is_left) if each]


def _back_to(start: int, following: Sequence[Sequence[int]], left: Sequence[int]) -> tuple[int, ...] | None:
    """The shortest way from a state back to itself."""
    allowed = set(left)
    came_from: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        for each in following[state]:
            if each == start:
                way = [state]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return tuple(reversed(way))
            if each in allowed and each not in came_from:
                came_from[each] = state
                waiting.append(each)
    return None
