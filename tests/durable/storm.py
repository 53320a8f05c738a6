"""Clients that ask one question after the other, while workers are killed at random."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import quantiles

from tests.durable.checks import Ask
from tests.durable.clients import KINDS, Told, asked
from tests.durable.fleet import Fleet


@dataclass(slots=True)
class Storm:
    """What came of it.

    Args:
        told: what each client has read, by tag.
        begun: the questions that were asked.
    """

    told: dict[str, Told] = field(default_factory=dict)
    begun: list[Ask] = field(default_factory=list)

    @property
    def pauses_s(self) -> list[float]:
        """Those that clients saw, from the break of a stream to its next chunk."""
        return sorted(pause for told in self.told.values() for pause in told.pauses_s)

    @property
    def answering(self) -> int:
        """How many answers have begun and are not whole."""
        return sum(bool(told.chunks) and told.done is None for told in self.told.values())

    @property
    def recovered(self) -> int:
        """How often a run went on after its worker."""
        return sum(
            chunk.get("system_type") == "recovered" for told in self.told.values() for chunk in told.of_type("system")
        )


def asks_of(clients: int, *, each: int) -> list[Ask]:
    """So many questions of so many clients, of all kinds in turn."""
    kinds = list(KINDS)
    return [(kinds[n % len(kinds)], f"c{n}") for n in range(clients * each)]


async def storm(
    fleet: Fleet, asks: Sequence[Ask], *, clients: int, kills: int, gap_s: tuple[float, float], dice: random.Random
) -> Storm:
    """Ask everything, by so many clients at a time, and kill workers until it is enough; the last ones end in quiet.

    Of several workers one is left alive, so that a pause is that of a take-over and not that of a start.

    Args:
        fleet: whose workers are killed.
        asks: what is asked, each once.
        clients: how many ask at a time.
        kills: how many workers are killed.
        gap_s: the least and the longest time between two kills; more while fewer than half of the clients hear an
            answer.
        dice: decides.
    """
    result, left = Storm(), list(reversed(asks))

    async def client() -> None:
        while left:
            kind, tag = left.pop()
            result.begun.append((kind, tag))
            reader = asked(fleet, kind, tag, dice)
            result.told[tag] = reader.told
            await reader.read()

    async with asyncio.TaskGroup() as group:
        reading = {group.create_task(client()) for _ in range(clients)}
        while fleet.kills < kills:
            _, under_way = await asyncio.wait(reading, timeout=dice.uniform(*gap_s))
            if not under_way:
                break
            # A kill before the answers have begun would interrupt nothing.
            if len(fleet.live) > min(len(fleet.workers) - 1, 1) and 2 * result.answering >= len(under_way):
                await fleet.kill(dice.choice(fleet.live))
    await fleet.settled()
    return result


def share(values: Sequence[float], percent: int) -> float:
    """The value that so many percent of them do not exceed."""
    return quantiles(values, n=100, method="inclusive")[percent - 1] if len(values) > 1 else max(values, default=0.0)
