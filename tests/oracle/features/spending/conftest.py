"""A service whose users are limited by a file."""

from pathlib import Path
from typing import Any

import pytest

from oracle.agent.nodes import REGISTRY
from oracle.features.spending.keys import KINDS
from oracle.features.spending.meter import open_spending
from oracle.llm.protocol import Usage
from oracle.server.plugins.contributions import kinds_of
from oracle.testing import ScriptedTurn
from tests.oracle.server.api.conftest import OPERATOR, TOKENS, Service

FREE = "plans: {free: {per_day: {tokens: {soft: 200, hard: 300}}}}\ndefault: free\n"
TURN = ScriptedTurn(text="Yes.", usage=Usage(100, output_tokens=20), model="m-1")
"""120 tokens."""
_made = kinds_of(KINDS)
KNOWN = REGISTRY.extended(_made.kinds, _made.keys)


@pytest.fixture
def limited(start, tmp_path: Path):
    """Starts a service with two users, an operator and a file of limits."""

    async def begin(limits: str = FREE, turns: Any = (TURN,), **options: Any) -> Service:
        file = tmp_path / "limits.yaml"
        file.write_text(limits, encoding="utf-8")
        return await start(
            turns,
            tokens=TOKENS | OPERATOR,
            operators=("olga",),
            limits=file,
            registry=KNOWN,
            opens=(open_spending,),
            **options,
        )

    return begin
