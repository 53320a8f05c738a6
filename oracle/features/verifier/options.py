"""What can happen next to a run that waits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Any

from bt_runtime import Request, TreeDefinition
from bt_runtime.language.kind import CALLS_HOST, KeyType
from bt_runtime.nodes.context import Requester
from bt_runtime.text.data import dataclass
from oracle.agent.nodes.people import TYPES
from oracle.agent.nodes.roles import ASKS_MODEL, FINISHES, RUNS_CALLS
from oracle.agent.tool_calls import calls_of
from oracle.core.chunks import Interrupt
from oracle.features.verifier.events import (
    OTHER_REASONS,
    SHARES,
    ActionEnded,
    Cancelled,
    Decided,
    Delivered,
    Event,
    Replied,
    SaveEnded,
    Seen,
    TimePassed,
    Tokens,
    ToolsEnded,
    Vocabulary,
    WorkEnded,
    results_for,
)
from oracle.features.verifier.identity import Ahead
from oracle.features.verifier.reads import Reads
from oracle.features.verifier.world import World

_OBJECTS = 16
"""So many objects at most are answers of a schema; a product of properties grows fast."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Which replies are one and the same response in a state.

    Each reply is played as the plainest of those that have the same texts, signal, calls and tokens in this state.
    What follows from it is the same, and so are its further forms: a form of a reply differs from it as the same form
    of the plainest one differs from that.

    Args:
        levels: those of the tokens that are used already, so that a response that reaches them uses none.
        has_reason: a `need_turn` before has given a reason that another one can repeat.
    """

    levels: frozenset[Tokens]
    has_reason: bool

    def plainest(self, event: Event) -> Event:
        """The event in whose place this one would do the same; mostly itself."""
        if not isinstance(event, Replied):
            return event
        reply = event.reply
        if reply.tokens != "low" and reply.tokens in self.levels:
            reply = replace(reply, tokens="low")
        if reply.same_reason and not self.has_reason:
            reply = replace(reply, same_reason=False)
        return event if reply is event.reply else replace(event, reply=reply)


class Options:
    """Lists the events that a tree can distinguish.

    Args:
        vocabulary: what model and tools can do.
    """

    def __init__(
        self,
        reads: Reads,
        vocabulary: Vocabulary,
        *,
        deliveries: Sequence[Delivered] = (),
    ) -> None:
        self._deliveries = deliveries
        self._reads = reads
        self.vocabulary = vocabulary

    def of(self, world: World) -> Iterator[Event]:
        """What can happen now."""
        for request in tuple(world.under_way):
            yield from self._ends(world, request)
        for at, interrupt in enumerate(world.agent.output.pending.values()):
            yield from self._decisions(at, interrupt)
        yield from _interruptions(world)
        yield from (each for each in self._deliveries if each.key not in world.progress.delivered)

    def alike(self, world: World) -> Alike:
        """Which replies are one and the same in the state now."""
        reached = frozenset(level for level in SHARES if not world.left_until(level))
        return Alike(reached, has_reason=world.agent.signals.last_reason in OTHER_REASONS)

    def variants(self, world: World, event: Event, ahead: Ahead | None) -> Iterator[Event]:
        """Further forms of an event that was just played, as far as its consequences depend on its form.

        Args:
            event: the event that was played last.
            world: after the event.
            ahead: what can still be ticked; `None` if the run is over.
        """
        if not isinstance(event, Replied):
            return
        keys = frozenset(world.read).union(ahead.keys if ahead else ())
        seen = Seen(keys, world.intents.was_asked)
        for reply in self.vocabulary.refined(event.reply, seen):
            yield replace(event, reply=reply)
        # The same event with more tokens used, if anything is decided by them, now or later.
        will_work = ahead is not None and ahead.works
        if will_work or world.tokens.decide(world.agent.state, world.read):
            yield from (replace(event, reply=reply) for reply in self.vocabulary.on_other_levels(event.reply))
        if world.intents.was_asked:
            yield from (replace(event, reply=reply) for reply in self.vocabulary.read_otherwise(event.reply))

    def _ends(self, world: World, request: Request) -> Iterator[Event]:
        """How a request can end by itself."""
        node, key, roles = request.node, request.key, request.node.facts.roles
        if ASKS_MODEL in roles:
            yield from self._replies(world, node, key)
        elif RUNS_CALLS in roles:
            calls = len({(call.name, str(call.arguments)) for call in calls_of(world.agent, request)})
            for results in results_for(calls, knows_repetition=self.vocabulary.knows_repetition):
                yield ToolsEnded(key, results)
        elif CALLS_HOST in roles:
            yield ActionEnded(key, "found")
            yield ActionEnded(key, "nothing")
            yield ActionEnded(key, "error")
            for text in self._reads.texts_of(node.settings.into) if node.settings.into else ():
                yield ActionEnded(key, "found", text)
        elif FINISHES in roles:
            yield SaveEnded(key)
            yield SaveEnded(key, fails=True)
        else:
            yield WorkEnded(key)
            yield WorkEnded(key, fails=True)

    def _decisions(self, at: int, interrupt: Interrupt) -> Iterator[Event]:
        """What a person can decide, and that nobody does in time."""
        if "approve" in interrupt.may:
            yield Decided(at, "approve")
        if "edit" in interrupt.may:
            yield Decided(at, "edit", arguments=(("query", "another question"),))
            for names, arguments in self.vocabulary.arguments:
                if arguments and (not names or interrupt.tool_name in names):
                    yield Decided(at, "edit", arguments=arguments)
        if "answer" in interrupt.may:
            yield from (Decided(at, "answer", value) for value in self._answers(interrupt.response_schema))
        if "refuse" in interrupt.may:
            yield Decided(at, "refuse")
        if interrupt.expires_at is not None:
            yield Decided(at, "expire")

    def _answers(self, schema: Mapping[str, Any]) -> Sequence[Any]:
        """Answers of a schema that the tree can distinguish."""
        reads = self._reads
        if "enum" in schema:
            return tuple(schema["enum"])
        texts = tuple(dict.fromkeys(text for key in sorted(reads.into) for text in reads.texts_of(key)))
        numbers = tuple(number for key in sorted(reads.into) for number in reads.numbers_of(key))
        if properties := schema.get("properties"):
            alternatives = (self._answers(each if isinstance(each, Mapping) else {}) for each in properties.values())
            return [dict(zip(properties, values, strict=True)) for values in islice(product(*alternatives), _OBJECTS)]
        more: Mapping[str, Sequence[Any]] = {"array": ([], ["a text"]), "object": ({}, {"a": "text"})}
        kind = str(schema.get("type"))
        return more.get(kind) or _values_of(TYPES.get(kind, "str"), texts=texts, numbers=numbers)

    def _replies(self, world: World, node: Requester, key: str) -> Iterator[Event]:
        vocabulary = self.vocabulary
        if node.settings.visible:
            can_write = any((tool := world.tools.get(name)) and tool.writes for name in world.agent.offered)
            replies = vocabulary.turns(can_write=can_write)
        else:
            replies = vocabulary.side_turns(node.settings.into)
        tools = node.settings.tools and not (node.settings.visible and world.agent.gathering.answer_due)
        yield from (Replied(key, reply) for reply in replies if tools or not reply.calls)


def _interruptions(world: World) -> Iterator[Event]:
    """A cancel, and the next deadline, with nothing and with a part of the work done."""
    roles = {role for request in world.under_way for role in request.node.facts.roles}
    speaks, runs = ASKS_MODEL in roles, RUNS_CALLS in roles
    tools = [request for request in world.under_way if RUNS_CALLS in request.node.facts.roles]
    has_part = speaks or any(len(calls_of(world.agent, request)) > 1 for request in tools)
    if world.progress.reason_at_cancel is None:
        yield Cancelled()
        if has_part:
            yield Cancelled("some")
        if speaks:
            yield Cancelled("whole")
            yield Cancelled("whole", calls=True)
        elif runs:
            yield Cancelled("whole")
    if world.next_deadline_s is not None:
        yield TimePassed()
        if has_part:
            yield TimePassed("some")


def _values_of(key_type: KeyType, *, texts: Sequence[str], numbers: Sequence[float]) -> Sequence[bool | str | float]:
    """Values of a type that a tree can distinguish which compares them with these."""
    return {
        "bool": (True, False),
        "str": (*texts, "another text"),
        "int": sorted({1, *(int(number) + step for number in numbers for step in (-1, 0, 1))}),
        "float": sorted({1.0, *(number + step for number in numbers for step in (-0.5, 0, 0.5))}),
    }.get(key_type, ())


def deliveries_of(definition: TreeDefinition, reads: Reads) -> tuple[Delivered, ...]:
    """The values that can come from outside, as far as the tree can distinguish them."""
    found: list[Delivered] = []
    for name in sorted(reads.keys & definition.keys.keys()):
        key = definition.keys[name]
        if not key.deliverable or name == "cancel_requested":
            continue
        numbers = reads.numbers_of(name)
        values = _values_of(key.type, texts=reads.texts_of(name), numbers=numbers)
        found += [Delivered(name, value) for value in values if not key.values or value in key.values]
    return tuple(found)
