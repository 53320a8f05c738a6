"""Has answers checked against their schemas; the checker is imported with the first schema."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from oracle.core.loading import imported

if TYPE_CHECKING:
    from oracle.agent.outcomes import TurnOutcome
    from oracle.agent.run import AgentRun
    from oracle.server.settings.fields import Settings
    from oracle.server.wiring.agent import Fittings

_CHECKED: Final = "oracle.features.structured_answers.checking:checked"


@asynccontextmanager
async def prepared(_settings: "Settings", fittings: "Fittings") -> AsyncIterator[None]:
    """Set the hook."""

    def check(run: "AgentRun", outcome: "TurnOutcome") -> "TurnOutcome":
        checked: TurnOutcome = imported(_CHECKED)(run, outcome)
        return checked

    fittings.hooks.check_answer = check
    yield
