"""Runs and their shadows over a real store; the model of the users and that of the shadows follow scripts."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pytest

from oracle.agent.control.choosing import Controls
from oracle.agent.nodes import REGISTRY
from oracle.core.metrics import Metrics
from oracle.features.shadow.pairs import PairFilter, ShadowPair
from oracle.features.shadow.rehearsing import Stage, shadow_control
from oracle.features.shadow.report import pairs_of
from oracle.features.shadow.running import Shadows
from oracle.runs.options import Follower
from oracle.runs.storage.store import Store, open_store
from oracle.testing import ScriptedModel, ScriptedTurn
from oracle.tools import Tool
from tests.acceptance.harness import Harness, made_tool
from tests.oracle.runs.running import Managed, managed
from tests.support.provider import Reply
from tests.support.shipped import served


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """On SQLite."""
    async with open_store(url, worker="w1") as opened:
        yield opened


def writing_tool(call: Callable[..., Awaitable[Any]], name: str = "note") -> Tool:
    """A tool of the group `code` that changes something."""
    return replace(made_tool(call, name), writes=True)


@dataclass(slots=True)
class Shadowed:
    """A manager whose runs are shadowed."""

    runs: Managed
    shadows: Shadows
    model: ScriptedModel
    metrics: Metrics

    async def pairs(self) -> list[ShadowPair]:
        """All pairs, newest first, once no shadow is under way."""
        await self.shadows.idle()
        return await pairs_of(self.runs.store).newest(PairFilter(), limit=100)

    async def pair(self) -> ShadowPair:
        """The only one."""
        (found,) = await self.pairs()
        return found


@asynccontextmanager
async def shadowed(
    store: Store,
    turns: Iterable[Reply] = (),
    shadow_turns: Iterable[ScriptedTurn] = (),
    *,
    control: str = "loop",
    rate: float = 1.0,
    tokens_per_hour: int | None = None,
    **more: Any,
) -> AsyncIterator[Shadowed]:
    """A manager with shadows.

    Args:
        store: has the runs.
        turns: of the users' model.
        shadow_turns: of the shadows' model.
        control: of the shadows.
        rate: the share of runs that are shadowed.
        tokens_per_hour: of all shadows.
        more: of `managed`.
    """
    model, made = ScriptedModel(shadow_turns), []
    controls = Controls(served())
    chosen = await shadow_control(control, controls=controls, store=store, registry=REGISTRY)

    def follow(it: Harness, metrics: Metrics) -> Follower:
        stage = Stage(
            oracle=it.oracle,
            model=model,
            control=chosen,
            store=store,
            new_id=lambda: uuid4().hex,
            clock=it.clock,
        )
        shadows = Shadows(
            stage, store=store, metrics=metrics, rate=rate, tokens_per_hour=tokens_per_hour, clock=it.clock
        )
        made.append((shadows, metrics))
        return shadows

    async with managed(store, turns, follower_of=follow, **more) as it:
        ((shadows, metrics),) = made
        yield Shadowed(it, shadows, model, metrics)
