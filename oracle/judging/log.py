"""The facts of a run as its stored log has them."""

from collections.abc import Iterable

from bt_runtime import Outcome
from oracle.agent.outcome_json import decode_outcome
from oracle.chunks import Closing, Content, Thinking, read_chunk
from oracle.encoding import from_json
from oracle.rules import Fact
from oracle.runs.tick_json import decode_tick
from oracle.storage import Event

_TEXTS = (b'{"type":"content"', b'{"type":"thinking"', b'{"type":"source"')
"""How the chunks begin that most logs consist of, and that are no events."""


def facts_of(events: Iterable[Event]) -> list[Fact]:
    """What the log of a run says, without the pieces of text.

    Raises:
        ValueError: an entry cannot be read.
    """
    facts: list[Fact] = []
    kept: dict[str, Outcome] = {}
    reason = None
    for event in events:
        if event.kind == "tick":
            facts.append(decode_tick(event.data, kept))
        elif event.kind in ("turn_end", "tool_end"):
            outcome = decode_outcome(event.data)
            kept[outcome.key] = outcome
            facts.append(outcome)
        elif event.kind == "closing":
            reason = from_json(event.data)["reason"]
        elif event.kind == "chunk" and (reason is not None or not event.data.startswith(_TEXTS)):
            chunk = read_chunk(event.data)
            if isinstance(chunk, Content) and reason is not None:
                facts.append(Closing(chunk.content, reason))
                reason = None
            elif not isinstance(chunk, Content | Thinking):
                facts.append(chunk)
    return facts
