"""Shadows of a service over the provider's wire: users and shadows share a key, and so the provider's limits."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from oracle.agent.answering import Ask
from oracle.features.shadow.pairs import PairFilter
from oracle.features.shadow.report import pairs_of
from oracle.features.shadow.running import Shadows
from oracle.runs.live import LiveRun
from oracle.server.settings.fields import Settings
from oracle.server.wiring import service
from tests.acceptance.harness import CODE_QUESTION, answers
from tests.oracle.runs.running import told
from tests.support.provider import HttpError, Reply, StandInProvider

SLOW_DOWN = HttpError("rate_limit_error", "slow down", headers={"retry-after-ms": "1"})


@dataclass
class Served:
    """A service with shadows, and what its provider has seen."""

    parts: service.ServiceParts
    shadows: Shadows
    provider: StandInProvider

    async def ask(self) -> str | None:
        """Ask, and wait for the end; returns why it ended."""
        live: LiveRun = await self.parts.runs.start(Ask(CODE_QUESTION))
        return (await told(self.parts.store, live.record)).record.termination_reason

    async def pairs(self) -> list[tuple[str, str]]:
        """States of the pairs, newest first, and why."""
        await self.shadows.idle()
        found = await pairs_of(self.parts.store).newest(PairFilter(), limit=10)
        return [(pair.state, pair.why) for pair in found]


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Serves over a provider that plays these replies."""

    @asynccontextmanager
    async def serve(*replies: Reply) -> AsyncIterator[Served]:
        async with StandInProvider(replies) as provider:
            monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
            monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
            settings = Settings(
                data_dir=tmp_path / "data", project_dir=tmp_path, llm="anthropic", control="shadow", encoder="off"
            )
            async with service.open_service(settings) as parts:
                yield Served(parts, parts.of(Shadows), provider)

    return serve


async def test_a_shadow_asks_the_same_provider(serving: Any) -> None:
    async with serving(answers(), answers()) as it:
        assert await it.ask() == "completed"
        assert await it.pairs() == [("finished", "")]
        assert len(it.provider.requests) == 2


async def test_after_a_refusal_of_a_users_request_no_shadow_asks_the_provider(serving: Any) -> None:
    async with serving(SLOW_DOWN, answers(), answers()) as it:
        assert await it.ask() == "completed"
        assert await it.pairs() == [("dropped", "provider_busy")]
        assert len(it.provider.requests) == 2


async def test_a_shadow_that_was_refused_asks_no_second_time_and_no_further_one_begins(serving: Any) -> None:
    async with serving(answers(), SLOW_DOWN, answers(), answers()) as it:
        assert await it.ask() == "completed"
        assert await it.pairs() == [("finished", "")]
        assert len(it.provider.requests) == 2
        assert await it.ask() == "completed"
        assert await it.pairs() == [("dropped", "provider_busy"), ("finished", "")]
        assert len(it.provider.requests) == 3
